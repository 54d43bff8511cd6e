"""Frames as JSON text: subprotocol `tidemark.v1.json` (SPEC section 7)."""

import json
from typing import Any

from .frames import Frame, FrameFault, checked

SUBPROTOCOL = "tidemark.v1.json"
# 2^53-1 has 16 digits. A longer one is out of range whatever it is, and Python refuses to read thousands of digits.
MAX_DIGITS = 20


def encode(frame: Frame) -> str:
    return json.dumps(frame, ensure_ascii=False, separators=(",", ":"))


def decode(message: Any, sender: str = "server") -> Frame:
    """The frame in a text message of `sender`. Raises FrameFault; what is no frame at all is fatal (DT5)."""
    if type(message) is not str:
        raise FrameFault(fatal=True)
    try:
        raw = json.loads(message, parse_int=_whole, parse_constant=_no_json)
    except (ValueError, RecursionError):
        raise FrameFault(fatal=True) from None
    if type(raw) is not dict or type(raw.get("t")) is not str:
        raise FrameFault(fatal=True)
    return checked(raw, sender)


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= MAX_DIGITS else float("inf")


def _no_json(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
