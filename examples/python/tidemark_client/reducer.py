"""The duties of a client (SPEC section 11) as pure functions over DeviceState: no socket, no clock, no chance."""

from dataclasses import dataclass, replace
from typing import Any

from .device_state import Ask, CatchUp, DeviceState, Held, Pages
from .error_codes import retry_delay_s
from .frames import Frame

# CD7: so many heartbeats without a page, catch-up frame or answer that is due, and the device asks again.
PATIENCE_HEARTBEATS = 3
SHOWN_SUMS = ("total", "badge", "mentions")


@dataclass(frozen=True)
class Step:
    state: DeviceState
    # A wish for sync that has just come up.
    asks: Ask | None = None


def reconnecting(state: DeviceState) -> tuple[DeviceState, dict[str, Any]]:
    """A new socket: its state, and what hello has to say of it (CD2, CD6)."""
    fields = state.stand()
    if isinstance(state.work, Pages) and state.work.next is not None:
        fields["page"] = state.work.next
    return replace(state, greeted=False, wish=None, idle_heartbeats=0), fields


def asking(state: DeviceState) -> tuple[DeviceState, Frame]:
    """The sync that the device has wished for is sent now."""
    state = replace(state, wish="sent", fruitless=state.fruitless + 1, idle_heartbeats=0)
    return state, {"t": "sync", **state.stand()}


def received(state: DeviceState, frame: Frame) -> Step:
    """A frame of the server, in the order in which it came (CD3)."""
    if frame["t"] == "welcome":
        return _answered(replace(state, greeted=True), frame)
    if not state.greeted or frame["t"] not in _HANDLERS:
        return Step(state)
    return _HANDLERS[frame["t"]](state, frame)


def unreadable(state: DeviceState) -> Step:
    """A frame came that this client cannot read. What it said is missing, as if it were lost."""
    return _ask(state, "unreadable") if state.greeted else Step(state)


def foreground(state: DeviceState) -> Step:
    """Somebody looks at the device again: it makes sure that it missed nothing."""
    return _ask(state, "foreground") if state.greeted else Step(state)


def _ask(state: DeviceState, why: Ask) -> Step:
    if state.wish is not None:
        return Step(state)
    return Step(replace(state, wish="wanted", idle_heartbeats=0), why)


def _answered(state: DeviceState, frame: Frame) -> Step:
    """welcome or synced, asked for or not (SY10)."""
    state = replace(state, wish=None, idle_heartbeats=0)
    if frame["mode"] == "snapshot":
        return Step(replace(state, work=_pages_due(state.work, frame)))
    base = state.work if isinstance(state.work, CatchUp) else state.held
    if base is None or base.epoch != frame["epoch"]:
        return _ask(state, "epoch")
    if frame["mode"] == "delta":
        return Step(replace(state, work=CatchUp(base.epoch, base.version, base.rows, frame["sync_version"])))
    # noop: what has been reached is all there is.
    return _compared(replace(state, held=Held(base.epoch, base.version, base.rows), work=None), frame)


def _pages_due(work: CatchUp | Pages | None, frame: Frame) -> Pages:
    """A snapshot at the version of the unfinished one goes on with it; page 1 would say that it does not."""
    if isinstance(work, Pages) and (work.epoch, work.snapshot_version) == (frame["epoch"], frame["sync_version"]):
        return work
    return Pages(frame["epoch"], frame["sync_version"], frame["sync_version"])


def _page(state: DeviceState, frame: Frame) -> Step:
    work = state.work
    if not isinstance(work, Pages) or (work.epoch, work.snapshot_version) != (frame["epoch"], frame["sync_version"]):
        # Of an answer that another one has replaced since.
        return Step(state)
    if frame["page"] == 1:
        # SY6: it starts anew. Rows above its version have come by deltas and are no part of it.
        version = work.snapshot_version
        later = work.rows.only(lambda row: row["version"] > version)
        work = replace(work, rows=later, taken=0)
    if frame["page"] != work.taken + 1:
        return _ask(state, "gap")
    rows = work.rows.with_rows(frame["rows"])
    state = replace(state, idle_heartbeats=0)
    if not frame["end"]:
        return Step(replace(state, work=replace(work, rows=rows, taken=frame["page"], next=frame["next"])))
    held = Held(work.epoch, work.version, rows.without_tombstones())
    return _compared(replace(state, held=held, work=None), work.delta or frame)


def _delta(state: DeviceState, frame: Frame) -> Step:
    base = state.work or state.held
    if base is None or base.epoch != frame["epoch"]:
        return _ask(state, "epoch")
    # SY4, CD4: alone an answer may begin below what is held; nothing may begin above it.
    if frame["base_version"] > base.version or (state.work is None and frame["base_version"] != base.version):
        return _ask(state, "gap")
    version = max(base.version, frame["sync_version"])
    if isinstance(base, Pages):
        last = frame if frame["sync_version"] == version else base.delta
        work = replace(base, version=version, rows=base.rows.with_rows(frame["rows"]), delta=last)
        return Step(replace(state, work=work, idle_heartbeats=0))
    rows = base.rows.with_rows(frame["rows"], above=base.version).without_tombstones()
    if isinstance(base, CatchUp) and version < base.target:
        return Step(replace(state, work=replace(base, version=version, rows=rows), idle_heartbeats=0))
    held = Held(base.epoch, version, rows)
    return _compared(replace(state, held=held, work=None, idle_heartbeats=0), frame)


def _heartbeat(state: DeviceState, frame: Frame) -> Step:
    if state.work is None and state.wish != "sent":
        return _compared(state, frame)
    state = replace(state, idle_heartbeats=state.idle_heartbeats + 1)
    if state.idle_heartbeats < PATIENCE_HEARTBEATS:
        return _compared(state, frame)
    return _ask(replace(state, wish=None), "stalled")


def _refused(state: DeviceState, frame: Frame) -> Step:
    """An error without id may be the answer to a sync, which then is asked for again in its time."""
    if state.wish != "sent" or "id" in frame or retry_delay_s(frame) is None:
        return Step(state)
    return _ask(replace(state, wish=None), "refused")


def _compared(state: DeviceState, frame: Frame) -> Step:
    """SY7: the sums that a frame carries against one's own, at the same version and with nothing due."""
    held, work = state.held, state.work
    if work is not None:
        is_beyond = frame.get("epoch", work.epoch) == work.epoch and frame["sync_version"] > work.target
        return _ask(state, "behind") if is_beyond else Step(state)
    if held is None:
        return Step(state)
    if frame.get("epoch", held.epoch) != held.epoch:
        return _ask(state, "epoch")
    if frame["sync_version"] != held.version:
        return _ask(state, "behind") if frame["sync_version"] > held.version else Step(state)
    said = {name: frame[name] for name in SHOWN_SUMS if name in frame}
    state = replace(state, held=replace(held, said={**held.said, **said}))
    if any(frame[name] != value for name, value in held.rows.sums().items() if name in frame):
        return _ask(state, "mismatch")
    # Equal: a wish that has not been sent has come true by itself.
    return Step(replace(state, fruitless=0, wish="sent" if state.wish == "sent" else None))


_HANDLERS = {
    "synced": _answered,
    "snapshot": _page,
    "delta": _delta,
    "hb": _heartbeat,
    "acked": _compared,
    "error": _refused,
}
