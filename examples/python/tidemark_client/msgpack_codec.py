"""Frames as MessagePack arrays: subprotocol `tidemark.v1.msgpack` (SPEC section 8)."""

from typing import Any

from .frames import OPS, Frame, FrameFault, checked
from .msgpack_bytes import NotMessagePack, pack, unpack
from .msgpack_columns import LAYOUTS, read_columns, write_columns

SUBPROTOCOL = "tidemark.v1.msgpack"
DELTA = 32
CODES = {code: kind for kind, (code, _) in LAYOUTS.items()} | {DELTA + place: "delta" for place in range(len(OPS))}


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
        raw["op"] = OPS[array[0] - DELTA]
    if kind in ("hello", "sync"):
        raw["cursor"] = None
    return checked(read_columns(LAYOUTS[kind][1], array[1:], raw), sender)
