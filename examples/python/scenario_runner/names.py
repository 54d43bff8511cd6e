"""Names of a scenario and what stands behind them: ids with a prefix of the run, and the seqs of its messages."""

import re
import secrets
from dataclasses import dataclass, field
from typing import Any

from .violation import NotSupported

_RANGE = re.compile(r"([a-z]+)(\d+)\.\.(?:[a-z]+)?(\d+)", re.IGNORECASE)
_PLACE = re.compile(r"^(.+?)([+-]\d+)?$")


@dataclass
class Names:
    # Other real ids for a name, as the scenario gives them.
    ids: dict[str, Any] = field(default_factory=dict)
    prefix: str = field(default_factory=lambda: f"py{secrets.token_hex(4)}-")
    # The event that posted each named message, with its seq.
    posted: dict[str, dict[str, Any]] = field(default_factory=dict)
    noted: dict[str, int] = field(default_factory=dict)
    heads: dict[str, int] = field(default_factory=dict)
    users: set[str] = field(default_factory=set)

    def id(self, name: str) -> str:
        given = self.ids.get(name, name)
        if isinstance(given, str):
            return self.prefix + given
        raise NotSupported(f"ids: {given}")

    def user(self, name: str) -> str:
        self.users.add(name)
        return self.id(name)

    def all(self, names: Any) -> list[str]:
        """Ids of a name, a list of names, or `u1..u501`."""
        found: list[str] = []
        for name in [names] if isinstance(names, str) else names:
            several = _RANGE.fullmatch(name)
            if several is None:
                found.append(self.id(name))
            else:
                word, first, last = several.groups()
                found += [self.id(f"{word}{number}") for number in range(int(first), int(last) + 1)]
        return found

    def seq(self, place: int | str, conv: str) -> int:
        """A number, or `m4`, `m4+1`, `head`, a noted name."""
        if isinstance(place, int):
            return place
        if place in self.posted:
            return self.posted[place]["seq"]
        name, shift = _PLACE.findall(place)[0]
        if name == "head":
            base = self.heads.get(conv, 0)
        else:
            base = self.posted[name]["seq"] if name in self.posted else self.noted[name]
        return base + int(shift or 0)

    def learn(self, label: str, conv: str, event: dict[str, Any], seq: int) -> None:
        self.posted[label] = {**event, "seq": seq}
        self.heads[conv] = max(self.heads.get(conv, 0), seq)
