"""What all frames of a scenario say about one version of one user has to agree (SY1), and what a row may hold."""

from typing import Any

from tidemark_client.device_state import DeviceState
from tidemark_client.frames import Frame
from tidemark_client.row_set import Row

from .violation import Violation

CAP = 999
SUMS = ("total", "badge", "mentions", "digest")


class Ledger:
    def __init__(self) -> None:
        self._sums: dict[tuple[Any, ...], Any] = {}
        self._rows: dict[tuple[Any, ...], Row] = {}
        self.broken: list[str] = []

    def break_rule(self, what: str) -> None:
        self.broken.append(what)

    def check(self) -> None:
        """Raises the first violation, if there was one."""
        if self.broken:
            raise Violation(self.broken[0])

    def frame(self, device: str, user: str, state: DeviceState, frame: Frame) -> None:
        """`state` is that of the device after the frame."""
        where = f"{device} {frame['t']}"
        # A frame of an unfinished catch-up carries the sums of its end (SY7).
        is_cut = frame["t"] == "delta" and state.work is not None
        if "sync_version" in frame and not is_cut and state.held is not None:
            self.sums(where, user, frame.get("epoch", state.held.epoch), frame)
        for row in frame.get("rows", []):
            self.row(where, user, frame["epoch"], row)

    def sums(self, where: str, user: str, epoch: str | None, carrier: dict[str, Any]) -> None:
        for name in SUMS:
            if name in carrier:
                key = (user, epoch, carrier["sync_version"], name)
                self._agree(f"{where} at version {carrier['sync_version']}: {name}", self._sums, key, carrier[name])

    def row(self, where: str, user: str, epoch: str, row: Row) -> None:
        at = f"{where}: row of {row['conv']}"
        if row.get("gone"):
            return
        if row.get("capped") and row["unread"] != CAP:
            self.break_rule(f"{at} is capped at {row['unread']}")
        if not row.get("capped") and row["mentions"] > row["unread"]:
            self.break_rule(f"{at} has more mentions than unread")
        if row["read_seq"] > row["head_seq"] and not row.get("hidden"):
            self.break_rule(f"{at} is read beyond its head")
        content = {name: value for name, value in row.items() if name != "head_seq" and value is not False}
        self._agree(
            f"{at} at version {row['version']}", self._rows, (user, epoch, row["conv"], row["version"]), content
        )

    def _agree(self, what: str, known: dict[tuple[Any, ...], Any], key: tuple[Any, ...], value: Any) -> None:
        if known.setdefault(key, value) != value:
            self.break_rule(f"{what} was {known[key]} elsewhere, is {value} here")
