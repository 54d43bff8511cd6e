"""What a device keeps over restarts: rows with their cursor, the number of its last socket, unanswered commands."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from .command_queue import Command
from .device_state import Held
from .row_set import RowSet


@dataclass
class Saved:
    """One record, stored as a whole: a cursor never stands beside rows of another version (CD2)."""

    held: Held | None = None
    attempt: int = 0
    commands: list[Command] = field(default_factory=list)


class Store(Protocol):
    def load(self) -> Saved: ...

    def save(self, saved: Saved) -> None: ...


class MemoryStore:
    def __init__(self) -> None:
        self._saved = Saved()

    def load(self) -> Saved:
        return self._saved

    def save(self, saved: Saved) -> None:
        self._saved = saved


class FileStore:
    """One JSON file, replaced in one step."""

    def __init__(self, path: Path):
        self._path = path

    def load(self) -> Saved:
        """Raises ValueError, KeyError or TypeError where the file holds something else."""
        if not self._path.exists():
            return Saved()
        return _from_json(json.loads(self._path.read_text()))

    def save(self, saved: Saved) -> None:
        beside = self._path.with_name(self._path.name + ".new")
        with beside.open("w") as file:
            json.dump(_to_json(saved), file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._path)


def _to_json(saved: Saved) -> dict[str, Any]:
    held = saved.held
    commands = [[command.kind, command.conv, command.fields, command.heads] for command in saved.commands]
    state = None if held is None else [held.epoch, held.version, list(held.rows.rows.values()), dict(held.said)]
    return {"attempt": saved.attempt, "commands": commands, "held": state}


def _from_json(value: dict[str, Any]) -> Saved:
    held = None
    if value["held"] is not None:
        epoch, version, rows, said = value["held"]
        held = Held(epoch, version, RowSet().with_rows(rows), said)
    return Saved(held, value["attempt"], [Command(*command) for command in value["commands"]])
