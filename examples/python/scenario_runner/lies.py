"""Lies of a server, told between it and the device: a runner that does not catch them would prove nothing.

Each lie is told at most where it makes a difference, and counted. A lie about rows is told with sums and digests that fit it,
so that nothing but the numbers of the scenario and the pull of the message service can give it away.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from tidemark_client.connection import Codec
from tidemark_client.frames import Frame
from tidemark_client.row_set import Row, RowSet

from .setting import CuttableSocket, Setting, open_cuttable

FrameLie = Callable[[Frame], list[Frame]]
RowLie = Callable[[Row], Row]


@dataclass
class Tally:
    told: int = 0


def telling(setting: Setting, lie: str, tally: Tally) -> Setting:
    """The setting, with every socket telling this lie."""

    async def open_lying(url: str, subprotocol: str) -> CuttableSocket:
        socket = await open_cuttable(url, subprotocol)
        teller = RowTeller(ROW_LIES[lie]) if lie in ROW_LIES else FRAME_LIES[lie]
        return LyingSocket(socket, setting.codec, teller, tally)

    return replace(setting, open_socket=open_lying)


class LyingSocket(CuttableSocket):
    def __init__(self, socket: CuttableSocket, codec: Codec, lie: FrameLie, tally: Tally):
        super().__init__(socket.connection)
        self._codec, self._lie, self._tally = codec, lie, tally
        self._due: list[Frame] = []

    async def receive(self) -> str | bytes:
        while not self._due:
            frame = self._codec.decode(await super().receive())
            self._due = self._lie(frame)
            self._tally.told += self._due != [frame]
        return self._codec.encode(self._due.pop(0))


class RowTeller:
    """Knows the true rows and the told ones, so that what it says adds up."""

    def __init__(self, lie: RowLie):
        self._lie = lie
        self._true, self._told = RowSet(), RowSet()

    def __call__(self, frame: Frame) -> list[Frame]:
        if frame["t"] == "snapshot" and frame["page"] == 1:
            self._true, self._told = RowSet(), RowSet()
        rows = [self._lie(row) for row in frame.get("rows", [])]
        self._true = self._true.with_rows(frame.get("rows", []))
        self._told = self._told.with_rows(rows)
        sums = {name: value for name, value in self._told.sums().items() if name in frame}
        # Only where the rows known here are all there is: not before the first page, nor after a cursor.
        if any(frame[name] != self._true.sums()[name] for name in sums):
            return [{**frame, **({"rows": rows} if rows else {})}]
        return [{**frame, **sums, **({"rows": rows} if rows else {})}]


def _one_too_many(row: Row) -> Row:
    return {**row, "unread": row["unread"] + 1} if row["unread"] and not row.get("capped") else row


def _mentions_forgotten(row: Row) -> Row:
    return {**row, "mentions": 0}


def _watermark_behind(row: Row) -> Row:
    return {**row, "read_seq": row["read_seq"] - 1} if row["read_seq"] and not row.get("gone") else row


def _flags_forgotten(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in ("muted", "marked", "hidden")}


def _never_gone(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "gone"}


ROW_LIES: dict[str, RowLie] = {
    "one unread too many": _one_too_many,
    "mentions are forgotten": _mentions_forgotten,
    "a watermark one behind": _watermark_behind,
    "flags are forgotten": _flags_forgotten,
    "tombstones are rows": _never_gone,
}


def _total_off(frame: Frame) -> list[Frame]:
    return [{**frame, "total": frame["total"] + 1}] if frame["t"] in ("delta", "hb", "acked") else [frame]


def _other_digest(frame: Frame) -> list[Frame]:
    return [{**frame, "digest": "0123456789ab"}] if frame["t"] in ("delta", "hb", "acked") else [frame]


def _deltas_lost(frame: Frame) -> list[Frame]:
    return [] if frame["t"] == "delta" else [frame]


def _deltas_twice(frame: Frame) -> list[Frame]:
    return [frame, frame] if frame["t"] == "delta" else [frame]


def _version_skipped(frame: Frame) -> list[Frame]:
    is_told = frame["t"] == "delta"
    return [{**frame, "sync_version": frame["sync_version"] + 1} if is_told else frame]


def _half_a_page(frame: Frame) -> list[Frame]:
    is_told = frame["t"] == "snapshot" and frame["rows"]
    return [{**frame, "rows": frame["rows"][1:]} if is_told else frame]


def _acks_unanswered(frame: Frame) -> list[Frame]:
    return [] if frame["t"] == "acked" else [frame]


FRAME_LIES: dict[str, FrameLie] = {
    "a total one too high": _total_off,
    "a digest of other rows": _other_digest,
    "deltas are lost": _deltas_lost,
    "deltas come twice": _deltas_twice,
    "a version is skipped": _version_skipped,
    "a page lacks a row": _half_a_page,
    "acks are not answered": _acks_unanswered,
}

LIES = (*ROW_LIES, *FRAME_LIES)
