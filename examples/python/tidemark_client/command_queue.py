"""Commands of the user that the server has not answered yet, in their order (AK4, section 11)."""

from dataclasses import dataclass, field
from typing import Any

from .frames import MAX_ACK_ITEMS, Frame


@dataclass
class Command:
    kind: str
    # None for read_all, which is about all of them.
    conv: str | None
    fields: dict[str, Any]
    # read_all: per conversation head_seq and read_epoch as they were shown, for rows that it leaves `stale` (AK8).
    heads: dict[str, list[int]] = field(default_factory=dict)
    # Whoever waits for the answer; several where commands were merged.
    tickets: list[Any] = field(default_factory=list)

    def is_like(self, other: "Command") -> bool:
        """Whether the later of the two says all that has to be said. A message_id says nothing of above or below."""
        mine, theirs = (
            (each.kind, each.conv, each.fields.get("read_epoch"), "from_seq" in each.fields) for each in (self, other)
        )
        return mine == theirs and not any("message_id" in each.fields for each in (self, other))


class CommandQueue:
    """Ids rise over all sockets. Frames of a socket that is gone are sent again, merged with what has come since."""

    def __init__(self) -> None:
        self._waiting: list[Command] = []
        self._sent: dict[int, list[Command]] = {}
        self._last_id = 0

    def add(self, command: Command) -> None:
        """Merges with an equal one that waits, unless another command on the conversation stands between them."""
        for earlier in reversed(self._waiting):
            if earlier.is_like(command):
                _merge(earlier, command)
                return
            if None in (earlier.conv, command.conv) or earlier.conv == command.conv:
                break
        self._waiting.append(command)

    def frames(self) -> list[Frame]:
        """What has to be sent now. Acks that follow one another share a frame."""
        frames: list[Frame] = []
        batches: list[list[Command]] = []
        for command in self._waiting:
            last = batches[-1] if batches else []
            if command.kind == "ack" and last and last[0].kind == "ack" and len(last) < MAX_ACK_ITEMS:
                last.append(command)
            else:
                batches.append([command])
        self._waiting = []
        for batch in batches:
            self._last_id += 1
            self._sent[self._last_id] = batch
            frames.append(_frame(self._last_id, batch))
        return frames

    def answered(self, id: int) -> list[Command]:
        """The commands of the frame with this id, in the order of its items; they are done with."""
        return self._sent.pop(id, [])

    def marks_on_the_way(self, conv: str) -> int:
        """Each of them raises the read_epoch of the conversation by 1 (AK7)."""
        return sum(1 for command in self.not_answered() if command.kind == "mark" and command.conv == conv)

    def not_answered(self) -> list[Command]:
        return [command for batch in self._sent.values() for command in batch] + self._waiting

    def put_back(self, id: int) -> None:
        """Refused for the moment: these commands wait again, before all that came after them."""
        self._waiting = self.answered(id) + self._waiting

    def send_all_again(self) -> None:
        """The socket is gone, and with it every answer that has not come."""
        again, self._waiting, self._sent = self.not_answered(), [], {}
        for command in again:
            self.add(command)


def _merge(earlier: Command, later: Command) -> None:
    """The last per conversation: the highest ack and clear, the newest value of each preference."""
    fields = {**(earlier.fields if later.kind == "prefs" else {}), **later.fields}
    for name in ("seq", "up_to_seq"):
        if name in fields:
            fields[name] = max(earlier.fields.get(name, 0), later.fields.get(name, 0))
    earlier.fields, earlier.heads = fields, later.heads
    earlier.tickets += later.tickets


def _frame(id: int, batch: list[Command]) -> Frame:
    if batch[0].kind == "ack":
        return {"t": "ack", "id": id, "items": [{"conv": command.conv, **command.fields} for command in batch]}
    command = batch[0]
    conv = {} if command.conv is None else {"conv": command.conv}
    return {"t": command.kind, "id": id, **conv, **command.fields}
