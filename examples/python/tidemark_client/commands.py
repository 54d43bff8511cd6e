"""The user's commands: what they say, how they wait for their answer, and what a refusal means."""

import asyncio
from collections.abc import Callable
from typing import Any

from .command_queue import Command, CommandQueue
from .device_state import Held
from .error_codes import retry_delay_s
from .frames import MAX_NUMBER, Frame
from .row_set import Row

# Of ack: to the end of a row whose head is not told, because it is capped (CN8).
TO_THE_END = MAX_NUMBER

# Of ack and mark: the read_epoch of the row held, counted on by the marks that are on their way. Of clear: its head.
HELD = -1

Answer = asyncio.Future[Any]


class Refused(Exception):
    """The server answered a command by an error frame."""

    def __init__(self, code: str, message: str):
        super().__init__(f"{code}: {message}")
        self.code = code


class Commands:
    """Each command gives a future: of the item in `acked` for an ack, of the whole `acked` frame for any other."""

    def __init__(self, held: Callable[[], Held | None], changed: Callable[[], None]):
        """`held` tells what is shown; `changed` is called when there is something to store and to send."""
        self.queue = CommandQueue()
        # The server has asked for a pause.
        self.is_held_back = False
        self._held, self._changed = held, changed

    def ack(
        self, conv: str, seq: int | None = None, *, message_id: str | None = None, read_epoch: int | None = HELD
    ) -> Answer:
        """Read up to `seq`, the one that was on the screen, or to `message_id`. None leaves read_epoch out."""
        target = _given(seq=seq, message_id=message_id)
        return self._add("ack", conv, {**target, **self._read_epoch(conv, read_epoch)})

    def mark(self, conv: str, from_seq: int | None = None, *, read_epoch: int | None = HELD) -> Answer:
        """Unread from `from_seq`, or the flag alone. None leaves read_epoch out."""
        return self._add("mark", conv, {**_given(from_seq=from_seq), **self._read_epoch(conv, read_epoch)})

    def prefs(self, conv: str, **flags: bool) -> Answer:
        """`muted`, `hidden` or both."""
        return self._add("prefs", conv, flags)

    def clear(self, conv: str, up_to_seq: int | None = HELD) -> Answer:
        """Up to `up_to_seq`, if not given to the head held. None leaves it out, which means the head of the server."""
        if up_to_seq == HELD:
            row = self._row(conv)
            up_to_seq = TO_THE_END if row is None else row["head_seq"]
        return self._add("clear", conv, _given(up_to_seq=up_to_seq))

    def read_all(self) -> Answer:
        """All that is shown now (AK8). Raises LookupError while nothing is."""
        held = self._held()
        if held is None:
            raise LookupError("there is no list yet")
        heads = {conv: [row["head_seq"], row["read_epoch"]] for conv, row in held.rows.listed().items()}
        return self._add("read_all", None, {"epoch": held.epoch, "sync_version": held.version}, heads)

    def acked(self, frame: Frame) -> None:
        commands = self.queue.answered(frame["id"])
        for place, command in enumerate(commands):
            if command.kind == "read_all":
                self._read_one_by_one(command, [item["conv"] for item in frame["items"] if item["status"] == "stale"])
            for ticket in command.tickets:
                _settle(ticket, frame["items"][place] if command.kind == "ack" else frame)
        self._changed()

    def refused(self, frame: Frame) -> None:
        """An error frame that names a command."""
        delay_s = retry_delay_s(frame)
        if delay_s is not None:
            self.queue.put_back(frame["id"])
            self.is_held_back = True
            asyncio.get_running_loop().call_later(delay_s, self._go_on)
            return
        for command in self.queue.answered(frame["id"]):
            if command.kind == "read_all" and frame["code"] == "stale_cursor":
                self._read_one_by_one(command, list(command.heads))
            for ticket in command.tickets:
                _settle(ticket, Refused(frame["code"], frame["message"]))
        self._changed()

    def _go_on(self) -> None:
        self.is_held_back = False
        self._changed()

    def _read_one_by_one(self, read_all: Command, convs: list[str]) -> None:
        """AK8: what read_all has left, at the heads that were shown when the user asked for it."""
        for conv in convs:
            if conv in read_all.heads:
                head, read_epoch = read_all.heads[conv]
                self.queue.add(Command("ack", conv, {"seq": head, "read_epoch": read_epoch}))

    def _read_epoch(self, conv: str, given: int | None) -> dict[str, int]:
        if given != HELD:
            return _given(read_epoch=given)
        row = self._row(conv)
        if row is None:
            return {}
        return {"read_epoch": row["read_epoch"] + self.queue.marks_on_the_way(conv)}

    def _row(self, conv: str) -> Row | None:
        held = self._held()
        return None if held is None else held.rows.rows.get(conv)

    def _add(
        self, kind: str, conv: str | None, fields: dict[str, Any], heads: dict[str, list[int]] | None = None
    ) -> Answer:
        ticket: Answer = asyncio.get_running_loop().create_future()
        # Whoever does not wait for the answer need not look at it.
        ticket.add_done_callback(lambda done: done.cancelled() or done.exception())
        self.queue.add(Command(kind, conv, fields, heads or {}, [ticket]))
        self._changed()
        return ticket


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _settle(ticket: Answer, answer: Any) -> None:
    if ticket.done():
        return
    if isinstance(answer, Exception):
        ticket.set_exception(answer)
    else:
        ticket.set_result(answer)
