"""The frames of the protocol as data (SPEC section 7), and the one function that holds a value against them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MAX_NUMBER = 2**53 - 1
MAX_ID_BYTES = 128
MAX_PAGE_ROWS = 200
MAX_ACK_ITEMS = 200

MODES = ("noop", "delta", "snapshot")
REASONS = ("first", "epoch", "ahead", "floor", "digest", "requested")
STATUSES = ("applied", "stale", "clamped", "unknown")
OPS = ("message", "recall", "edit", "read", "mark", "prefs", "clear", "join", "leave", "merged")

Frame = dict[str, Any]
Check = Callable[[Any, str], Any]


class FrameFault(Exception):
    """What is no frame (`fatal`: the socket closes with 4400), or a frame that is refused with `code` and `field`."""

    def __init__(self, fatal: bool, code: str | None = None, field: str | None = None, id: int | None = None):
        super().__init__("no frame of the subprotocol" if fatal else f"{code}: {field}")
        self.fatal, self.code, self.field, self.id = fatal, code, field, id


class BadField(Exception):
    """A value that its field cannot have; `args[0]` is the path of the field, as in `items[1].conv`."""


@dataclass(frozen=True)
class Field:
    name: str
    check: Check
    optional: bool = False


def number(value: Any, path: str, least: int = 0) -> int:
    # A bool is an int to Python, and a float is no number to the protocol, even if it is whole.
    if type(value) is not int or not least <= value <= MAX_NUMBER:
        raise BadField(path)
    return value


def from_one(value: Any, path: str) -> int:
    return number(value, path, least=1)


def text(value: Any, path: str) -> str:
    if type(value) is not str:
        raise BadField(path)
    return value


def identifier(value: Any, path: str) -> str:
    try:
        size = len(text(value, path).encode())
    except UnicodeEncodeError:  # a lone surrogate
        raise BadField(path) from None
    if not 1 <= size <= MAX_ID_BYTES:
        raise BadField(path)
    return value


def flag(value: Any, path: str) -> bool:
    if type(value) is not bool:
        raise BadField(path)
    return value


def digest(value: Any, path: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{12}", text(value, path)):
        raise BadField(path)
    return value


def one_of(*names: str) -> Check:
    def check(value: Any, path: str) -> str:
        if value not in names:
            raise BadField(path)
        return value

    return check


def cursor(value: Any, path: str) -> dict[str, Any] | None:
    return None if value is None else record(CURSOR)(value, path)


def record(fields: tuple[Field, ...]) -> Check:
    """An object with these fields. Keys that are not known are dropped; a field left out stays left out."""

    def check(value: Any, path: str) -> dict[str, Any]:
        if type(value) is not dict:
            raise BadField(path)
        found = {}
        for field in fields:
            at = f"{path}.{field.name}" if path else field.name
            if field.name in value:
                found[field.name] = field.check(value[field.name], at)
            elif not field.optional:
                raise BadField(at)
        return found

    return check


def list_of(check: Check, most: int | None = None) -> Check:
    def check_list(value: Any, path: str) -> list[Any]:
        if type(value) is not list or (most is not None and len(value) > most):
            raise BadField(path)
        return [check(item, f"{path}[{place}]") for place, item in enumerate(value)]

    return check_list


def ack_item(value: Any, path: str) -> dict[str, Any]:
    """AK9: exactly one of seq and message_id."""
    item = record(ACK_ITEM)(value, path)
    if "seq" in item and "message_id" in item:
        raise BadField(f"{path}.message_id")
    if "seq" not in item and "message_id" not in item:
        raise BadField(f"{path}.seq")
    return item


def need(name: str, check: Check) -> Field:
    return Field(name, check)


def maybe(name: str, check: Check) -> Field:
    return Field(name, check, optional=True)


CURSOR = (need("epoch", identifier), need("sync_version", number))
ACK_ITEM = (
    need("conv", identifier),
    maybe("seq", number),
    maybe("message_id", identifier),
    maybe("read_epoch", number),
)
ACKED_ITEM = (
    need("conv", identifier),
    need("status", one_of(*STATUSES)),
    maybe("read_seq", number),
    maybe("unread", number),
)
ROW = (
    need("conv", identifier),
    need("version", number),
    need("unread", number),
    need("mentions", number),
    need("read_seq", number),
    need("read_epoch", number),
    need("head_seq", number),
    maybe("floor_seq", number),
    maybe("muted", flag),
    maybe("marked", flag),
    maybe("hidden", flag),
    maybe("capped", flag),
    maybe("gone", flag),
)
SUMS = (need("total", number), need("badge", number), need("mentions", number), need("digest", digest))
STAND = (need("epoch", identifier), need("sync_version", number))
ANSWER = (*STAND, need("mode", one_of(*MODES)), maybe("reason", one_of(*REASONS)), *SUMS, need("expires_at", number))
ID = need("id", number)

CLIENT_FRAMES: dict[str, tuple[Field, ...]] = {
    "hello": (
        need("token", text),
        need("device", identifier),
        need("cursor", cursor),
        maybe("digest", digest),
        maybe("page", text),
        maybe("max_rows", from_one),
        maybe("attempt", number),
    ),
    "ack": (ID, need("items", list_of(ack_item, MAX_ACK_ITEMS))),
    "sync": (need("cursor", cursor), maybe("digest", digest)),
    "mark": (ID, need("conv", identifier), maybe("from_seq", number), maybe("read_epoch", number)),
    "prefs": (ID, need("conv", identifier), maybe("muted", flag), maybe("hidden", flag)),
    "clear": (ID, need("conv", identifier), maybe("up_to_seq", number)),
    "read_all": (ID, maybe("epoch", identifier), need("sync_version", number)),
    "auth": (need("token", text),),
    "ping": (),
}
SERVER_FRAMES: dict[str, tuple[Field, ...]] = {
    "welcome": (need("conn", identifier), need("user", identifier), *ANSWER, need("heartbeat_ms", number)),
    "synced": ANSWER,
    "snapshot": (
        *STAND,
        need("page", from_one),
        need("rows", list_of(record(ROW), MAX_PAGE_ROWS)),
        maybe("next", text),
        need("end", flag),
        *SUMS,
    ),
    "delta": (
        need("epoch", identifier),
        need("base_version", number),
        need("sync_version", number),
        need("rows", list_of(record(ROW))),
        need("op", one_of(*OPS)),
        *SUMS,
    ),
    "acked": (
        ID,
        need("items", list_of(record(ACKED_ITEM))),
        need("sync_version", number),
        need("total", number),
        need("digest", digest),
    ),
    "hb": (*STAND, need("total", number), need("digest", digest)),
    "auth_ok": (need("expires_at", number),),
    "bye": (need("code", number), need("reason", text), maybe("retry_ms", number)),
    "error": (maybe("id", number), need("code", text), need("message", text), maybe("retry_ms", number)),
}
FRAMES = {"client": CLIENT_FRAMES, "server": SERVER_FRAMES}


def checked(raw: Frame, sender: str) -> Frame:
    """The frame that `sender` ("client" or "server") meant, or FrameFault with code, field and, where known, id."""
    answer_to = raw["id"] if type(raw.get("id")) is int and 0 <= raw["id"] <= MAX_NUMBER else None
    fields = FRAMES[sender].get(raw["t"])
    if fields is None:
        raise FrameFault(False, "unknown_frame", "t", answer_to)
    try:
        frame = record(fields)(raw, "")
        if raw["t"] == "prefs" and not {"muted", "hidden"} & frame.keys():
            raise BadField("muted")
    except BadField as bad:
        raise FrameFault(False, "invalid_field", bad.args[0], answer_to) from None
    return {"t": raw["t"], **frame}
