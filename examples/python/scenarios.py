"""Conformance scenarios, played against a running server with the Python client as the devices.

python scenarios.py --url … --api-key … --token-secret … FOLDER            the chosen scenarios of the folder
python scenarios.py … --lies FOLDER      under planted lies and with wrong expectations: every one has to fail
"""

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from scenario_runner.bent import bent
from scenario_runner.chosen import CHOSEN
from scenario_runner.lies import LIES, Tally, telling
from scenario_runner.player import play
from scenario_runner.server_api import ServerApi
from scenario_runner.setting import Setting
from scenario_runner.violation import Violation
from tidemark_client import json_codec, msgpack_codec

CODECS = {"json": json_codec, "msgpack": msgpack_codec}
AT_ONCE = 4
# A lie is caught, or a wrong number missed for good; neither takes long on this machine.
LIE_TIMEOUT_S = 1.0


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--api-key", required=True)
    parser.add_argument("--token-secret", required=True)
    parser.add_argument("--codec", choices=CODECS, default="json")
    parser.add_argument("--only", metavar="ID,…", help="these scenarios in the place of the chosen ones")
    parser.add_argument("--lies", action="store_true", help="plant lies; the exit code says whether all were caught")
    parser.add_argument("folder", type=Path)
    return parser.parse_args()


def chosen_of(folder: Path, ids: tuple[str, ...]) -> list[dict[str, Any]]:
    """In the order of the ids, each of which has to be there."""
    files = {path.name.split("-")[0]: path for path in folder.glob("*.json")}
    return [json.loads(files[each].read_text()) for each in ids]


async def verdict(scenario: dict[str, Any], setting: Setting) -> str | None:
    """None if it passes, or what is wrong and where."""
    try:
        await play(scenario, setting)
        return None
    except Violation as violation:
        steps = reversed(getattr(violation, "__notes__", []))
        return ", ".join([str(violation), *steps])


async def all_of(jobs: list[Callable[[], Awaitable[Any]]]) -> list[Any]:
    """Several at once."""
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(job: Callable[[], Awaitable[Any]]) -> Any:
        async with turn:
            return await job()

    return await asyncio.gather(*map(one, jobs))


async def play_true(scenarios: list[dict[str, Any]], setting: Setting) -> list[bool]:
    """Whether each passed."""

    async def one(scenario: dict[str, Any]) -> bool:
        fault = await verdict(scenario, setting)
        print(f"{'ok  ' if fault is None else 'FAIL'} {scenario['id']} {scenario['title']}", flush=True)
        if fault is not None:
            print(f"     {fault}", flush=True)
        return fault is None

    return await all_of([partial(one, each) for each in scenarios])


async def play_false(scenarios: list[dict[str, Any]], setting: Setting) -> list[bool]:
    """Whether each lie that was told and each wrong expectation was caught."""
    setting = replace(setting, timeout_s=LIE_TIMEOUT_S)

    async def wrong(scenario: dict[str, Any], where: str) -> bool:
        is_caught = await verdict(scenario, setting) is not None
        if not is_caught:
            print(f"NOT CAUGHT {scenario['id']}: wrong expectation {where}", flush=True)
        return is_caught

    async def lie(scenario: dict[str, Any], name: str) -> bool | None:
        tally = Tally()
        is_caught = await verdict(scenario, telling(setting, name, tally)) is not None
        if tally.told and not is_caught:
            print(f"NOT CAUGHT {scenario['id']}: {name}", flush=True)
        return is_caught if tally.told else None

    lies = [partial(lie, each, name) for each in scenarios for name in LIES]
    bends = [partial(wrong, each, where) for known in scenarios for where, each in bent(known)]
    return [is_caught for is_caught in await all_of([*lies, *bends]) if is_caught is not None]


async def main() -> int:
    given = options()
    scenarios = chosen_of(given.folder, tuple(given.only.split(",")) if given.only else CHOSEN)
    setting = Setting(ServerApi(given.url, given.api_key, given.token_secret), CODECS[given.codec])
    results = await (play_false if given.lies else play_true)(scenarios, setting)
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
