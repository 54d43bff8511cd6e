"""The same scenario with one wrong expectation each: none of them may pass.

Numbers are bent far, since a number nearby may have been true a moment before, and `expect` waits for its moment.
"""

import copy
from collections.abc import Iterator
from typing import Any

NUMBERS = ("total", "badge", "mentions", "count", "steps", "deltas", "unread", "epoch")
PLACES = ("read", "head")
FAR = 1000
WRONG_STATUS = {"applied": "stale", "stale": "applied", "clamped": "stale", "unknown": "applied"}
WRONG_MODE = {"noop": "snapshot", "delta": "noop", "snapshot": "delta"}

Path = tuple[Any, ...]


def bent(scenario: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Which expectation was bent, and the scenario with it."""
    for path, wrong in _expectations(scenario["steps"], ()):
        copied = copy.deepcopy(scenario)
        place: Any = copied["steps"]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = wrong
        yield ".".join(map(str, path)), copied


def _expectations(steps: list[dict[str, Any]], path: Path) -> Iterator[tuple[Path, Any]]:
    for place, step in enumerate(steps):
        at = (*path, place)
        for part in ("during", "steps"):
            if isinstance(step.get(part), list):
                yield from _expectations(step[part], (*at, part))
        yield from _of(step, at, NUMBERS)
        yield from _answer(step, at)
        for number, item in enumerate(step.get("items", [])):
            yield from _answer(item, (*at, "items", number))
        for conv, row in step.get("rows", {}).items():
            if isinstance(row, dict):
                yield from _of(row, (*at, "rows", conv), (*NUMBERS, *PLACES))
            elif row != "listed":
                yield (*at, "rows", conv), {"unread": FAR}
        if step["do"] == "expectDeltas":
            yield from _of(step["on"], (*at, "on"), tuple(step["on"]))


def _answer(item: dict[str, Any], at: Path) -> Iterator[tuple[Path, Any]]:
    """Status and mode, where there is but one that will do."""
    for key, wrong in (("expect", WRONG_STATUS), ("mode", WRONG_MODE)):
        if isinstance(item.get(key), str):
            yield (*at, key), wrong[item[key]]


def _of(holder: dict[str, Any], at: Path, keys: tuple[str, ...]) -> Iterator[tuple[Path, Any]]:
    for key in keys:
        value = holder.get(key)
        if type(value) is int:
            yield (*at, key), value + FAR
        elif type(value) is str and key in PLACES and value.isalnum():
            yield (*at, key), f"{value}+{FAR}"
