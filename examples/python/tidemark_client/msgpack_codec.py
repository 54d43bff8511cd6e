"""Frames as MessagePack arrays: subprotocol `tidemark.v1.msgpack` (SPEC section 8)."""

from typing import Any

from .frames import OPS, Frame, FrameFault, checked
from .msgpack_bytes import FOREIGN, NotMessagePack, pack, unpack
from .msgpack_columns import LAYOUTS, read_columns, write_columns

SUBPROTOCOL = "tidemark.v1.msgpack"
# All of these are deltas, each op with a code of its own; those that no op has yet included.
DELTAS = range(32, 64)
CODES = {code: kind for kind, (code, _) in LAYOUTS.items()} | dict.fromkeys(DELTAS, "delta")


def encode(frame: Frame) -> bytes:
    code, columns = LAYOUTS[frame["t"]]
    if frame["t"] == "delta":
        code += OPS.index(frame["op"])
    return pack([code, *write_columns(columns, frame)])


def decode(message: Any, sender: str = "server") -> Frame:
    """The frame in a binary message of `sender`. Raises FrameFault; what is no frame at all is fatal (DT5)."""
    if type(message) is not bytes:
        raise FrameFault(fatal=True)
    try:
        array = unpack(message)
    except NotMessagePack:
        raise FrameFault(fatal=True) from None
    if type(array) is not list or not array or type(array[0]) is not int:
        raise FrameFault(fatal=True)
    kind = CODES.get(array[0])
    if kind is None:
        raise FrameFault(False, "unknown_frame", "t")
    raw: Frame = {"t": kind}
    if kind == "delta":
        place = array[0] - DELTAS.start
        raw["op"] = OPS[place] if place < len(OPS) else FOREIGN
    if kind in ("hello", "sync"):
        raw["cursor"] = None
    return checked(read_columns(LAYOUTS[kind][1], array[1:], raw), sender)
