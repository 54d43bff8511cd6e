"""What a device holds: the complete state that it shows, and beside it what has not come to its end yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .frames import Frame
from .row_set import RowSet


@dataclass(frozen=True)
class Held:
    """Complete rows of one version. The one thing that is shown and stored (CD2)."""

    epoch: str
    version: int
    rows: RowSet
    # CD1: total, badge and mentions as the server said them last at this version, in the place of one's own.
    said: Mapping[str, int] = field(default_factory=dict)

    def sums(self) -> dict[str, Any]:
        """What is shown. Equal to the sums of the rows, or a sync is under way (SY7)."""
        return {**self.rows.sums(), **self.said}


@dataclass(frozen=True)
class CatchUp:
    """A catch-up that has reached `version` and is due to end at `target` (SY7). Its rows are not shown before."""

    epoch: str
    version: int
    rows: RowSet
    target: int


@dataclass(frozen=True)
class Pages:
    """A snapshot of `snapshot_version`, of which `taken` pages are there, with deltas up to `version` (SY6)."""

    epoch: str
    snapshot_version: int
    version: int
    rows: RowSet = field(default_factory=RowSet)
    taken: int = 0
    next: str | None = None
    # The last delta, whose sums the complete rows have to meet; None: those of the pages.
    delta: Frame | None = None

    @property
    def target(self) -> int:
        return self.version


# Why the device asks by `sync`.
Ask = Literal["gap", "behind", "mismatch", "epoch", "stalled", "refused", "unreadable", "foreground"]


@dataclass(frozen=True)
class DeviceState:
    held: Held | None = None
    work: CatchUp | Pages | None = None
    # CD3: nothing is taken before welcome.
    greeted: bool = False
    # CD5: one wish for sync at a time, first wanted, then sent.
    wish: Literal["wanted", "sent"] | None = None
    # Syncs sent since the sums were equal last.
    fruitless: int = 0
    # Heartbeats since the last page, catch-up frame or answer, while one is due (CD7).
    idle_heartbeats: int = 0

    @property
    def due(self) -> str | None:
        return {CatchUp: "catchup", Pages: "snapshot", type(None): None}[type(self.work)]

    def stand(self) -> dict[str, Any]:
        """Cursor and digest, as hello and sync name them. A digest belongs to complete rows alone."""
        if isinstance(self.work, CatchUp):
            return {"cursor": {"epoch": self.work.epoch, "sync_version": self.work.version}}
        if self.held is None:
            return {"cursor": None}
        cursor = {"epoch": self.held.epoch, "sync_version": self.held.version}
        return {"cursor": cursor, "digest": self.held.rows.sums()["digest"]}
