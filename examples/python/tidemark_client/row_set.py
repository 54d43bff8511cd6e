"""Rows together with their sums, so that one row is exchanged without a look at the others."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .digest import MODULUS, digest_text, is_listed, row_digest

Row = dict[str, Any]


def badge_of(row: Row) -> int:
    """CN3: a muted row adds its mentions to the badge, any other its unread."""
    return row["mentions"] if row.get("muted") else row["unread"]


@dataclass(frozen=True)
class RowSet:
    rows: Mapping[str, Row] = field(default_factory=dict)
    total: int = 0
    badge: int = 0
    mentions: int = 0
    digest: int = 0

    def sums(self) -> dict[str, Any]:
        """In the form in which frames carry them."""
        return {
            "total": self.total,
            "badge": self.badge,
            "mentions": self.mentions,
            "digest": digest_text(self.digest),
        }

    def with_rows(self, rows: Iterable[Row], above: int = -1) -> "RowSet":
        """SY3: a row is taken if its version is above that of the row held, and above `above` (CD4)."""

        def is_newer(row: Row) -> bool:
            return row["version"] > max(above, self.rows[row["conv"]]["version"] if row["conv"] in self.rows else -1)

        return self.exchanged(row for row in rows if is_newer(row))

    def exchanged(self, rows: Iterable[Row]) -> "RowSet":
        """These rows in the place of those held, whatever the versions."""
        held = dict(self.rows)
        total, badge, mentions, digest = self.total, self.badge, self.mentions, self.digest
        for row in rows:
            old = held.get(row["conv"])
            held[row["conv"]] = row
            for each, sign in ((old, -1), (row, 1)):
                if each is not None and is_listed(each):
                    total += sign * each["unread"]
                    badge += sign * badge_of(each)
                    mentions += sign * each["mentions"]
                    digest += sign * row_digest(each)
        return RowSet(held, total, badge, mentions, digest % MODULUS)

    def only(self, keep: Callable[[Row], bool]) -> "RowSet":
        """The rows for which `keep` is true."""
        return RowSet().exchanged(row for row in self.rows.values() if keep(row))

    def without_tombstones(self) -> "RowSet":
        # A tombstone adds nothing, so the sums stay.
        rows = {conv: row for conv, row in self.rows.items() if not row.get("gone")}
        return RowSet(rows, self.total, self.badge, self.mentions, self.digest)

    def listed(self) -> dict[str, Row]:
        return {conv: row for conv, row in self.rows.items() if is_listed(row)}
