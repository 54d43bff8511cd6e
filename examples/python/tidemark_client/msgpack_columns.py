"""Which field stands at which place of a frame's array (SPEC section 8, the table of frames)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .frames import MODES, REASONS, STATUSES
from .msgpack_bytes import FOREIGN

Values = dict[str, Any]


# Of a column: it is written always.
ALWAYS = object()


@dataclass(frozen=True)
class Column:
    """`write` gives the element for the values; `read` puts into them what an element says, if it is not nil."""

    write: Callable[[Values], Any]
    read: Callable[[Any, Values], None]
    # MP2: an element that equals this is left out at the end of the array, and is meant where the array is shorter.
    left_out: Any = ALWAYS


def write_columns(columns: list[Column], values: Values) -> list[Any]:
    array = [column.write(values) for column in columns]
    while array and array[-1] == columns[len(array) - 1].left_out:
        array.pop()
    return array


def read_columns(columns: list[Column], array: list[Any], values: Values) -> Values:
    for place, column in enumerate(columns):
        element = array[place] if place < len(array) else column.left_out
        if element is not None and element is not ALWAYS:
            column.read(element, values)
    return values


def plain(name: str, left_out: Any = ALWAYS) -> Column:
    return computed(name, lambda values: values.get(name), lambda element, _: element, left_out)


def computed(
    name: str, write: Callable[[Values], Any], read: Callable[[Any, Values], Any], left_out: Any = ALWAYS
) -> Column:
    """A field that is written as something else; `read` gives its value back."""
    return Column(write, lambda element, values: values.update({name: read(element, values)}), left_out)


def difference(name: str, to: str, sign: int = -1, left_out: Any = ALWAYS) -> Column:
    """MP3: `name` as its difference to the field `to`, which stands before it; sign -1 for `to` - `name`."""
    return computed(
        name,
        lambda values: sign * (values[name] - values[to]),
        lambda element, values: _added(values.get(to), element, sign),
        left_out,
    )


def _added(base: Any, element: Any, sign: int) -> Any:
    return base + sign * element if type(base) is int and type(element) is int else FOREIGN


def place_in(names: tuple[str, ...]) -> Callable[[Any], Any]:
    return lambda place: names[place] if type(place) is int and 0 <= place < len(names) else FOREIGN


def _read_mode(element: Any, values: Values) -> None:
    reason, mode = divmod(element, len(MODES)) if type(element) is int and element >= 0 else (0, FOREIGN)
    values["mode"] = place_in(MODES)(mode)
    if reason > 0:
        values["reason"] = place_in(REASONS)(reason - 1)


def _write_mode(values: Values) -> int:
    reason = 1 + REASONS.index(values["reason"]) if "reason" in values else 0
    return MODES.index(values["mode"]) + len(MODES) * reason


def _read_digest(element: Any, _: Values) -> Any:
    return element.hex() if type(element) is bytes else FOREIGN


def _write_digest(values: Values) -> bytes | None:
    return bytes.fromhex(values["digest"]) if "digest" in values else None


def cursor(left_out: Any) -> list[Column]:
    """Two elements. Both nil means null, so the field is there in any case."""

    def write(name: str) -> Callable[[Values], Any]:
        return lambda values: None if values["cursor"] is None else values["cursor"][name]

    def read(name: str) -> Callable[[Any, Values], None]:
        return lambda element, values: values.update({"cursor": {**(values["cursor"] or {}), name: element}})

    return [Column(write(name), read(name), left_out) for name in ("epoch", "sync_version")]


def nested(name: str, columns: list[Column], *, of_frame: tuple[str, ...] = ()) -> Column:
    """A list of arrays. `of_frame` names fields of the frame that the inner columns count from."""

    def write(values: Values) -> list[Any]:
        outer = {f"frame.{field}": values[field] for field in of_frame}
        return [write_columns(columns, {**outer, **item}) for item in values[name]]

    def read(element: Any, values: Values) -> Any:
        outer = {f"frame.{field}": values.get(field) for field in of_frame}
        if type(element) is not list:
            return element
        return [read_columns(columns, item, dict(outer)) if type(item) is list else FOREIGN for item in element]

    return computed(name, write, read)


FLAGS = (("muted", 1), ("marked", 2), ("hidden", 4), ("capped", 8), ("gone", 16))


def _write_flags(row: Values) -> int:
    return sum(bit for name, bit in FLAGS if row.get(name))


def _read_flags(element: Any, row: Values) -> None:
    if type(element) is not int or element < 0:
        row["muted"] = FOREIGN
        return
    row.update({name: True for name, bit in FLAGS if element & bit})


def _write_floor(row: Values) -> int:
    return row.get("floor_seq", row["read_seq"]) - row["read_seq"]


def _read_floor(element: Any, row: Values) -> None:
    if element != 0:
        row["floor_seq"] = _added(row.get("read_seq"), element, 1)


def _write_seq_or_message(item: Values) -> Any:
    return item["seq"] if "seq" in item else item["message_id"]


def _read_seq_or_message(element: Any, item: Values) -> None:
    item["message_id" if type(element) is str else "seq"] = element


def needed(*names: str) -> list[Column]:
    return [plain(name) for name in names]


def optional(*names: str) -> list[Column]:
    return [plain(name, left_out=None) for name in names]


DIGEST = computed("digest", _write_digest, _read_digest)
OPTIONAL_DIGEST = replace(DIGEST, left_out=None)
MODE = Column(_write_mode, _read_mode)
WHOLE_SUMS = [DIGEST, plain("total"), difference("badge", "total"), plain("mentions")]
SUMS = [*WHOLE_SUMS[:2], *(replace(column, left_out=0) for column in WHOLE_SUMS[2:])]
ACK_ITEM = [plain("conv"), Column(_write_seq_or_message, _read_seq_or_message), *optional("read_epoch")]
STATUS = computed("status", lambda item: STATUSES.index(item["status"]), lambda place, _: place_in(STATUSES)(place))
ACKED_ITEM = [plain("conv"), STATUS, *optional("read_seq", "unread")]
ROW = [
    *needed("conv", "head_seq"),
    difference("read_seq", "head_seq", left_out=0),
    plain("unread", left_out=0),
    plain("mentions", left_out=0),
    difference("version", "frame.sync_version", left_out=0),
    Column(_write_flags, _read_flags, left_out=0),
    plain("read_epoch", left_out=0),
    Column(_write_floor, _read_floor, left_out=0),
]
ROWS = nested("rows", ROW, of_frame=("sync_version",))
ANSWER = [*needed("epoch", "sync_version"), MODE, plain("expires_at"), *WHOLE_SUMS]
VERSIONS = [*needed("epoch", "base_version"), difference("sync_version", "base_version", sign=1)]

LAYOUTS: dict[str, tuple[int, list[Column]]] = {
    "hello": (
        1,
        [*needed("token", "device"), *cursor(ALWAYS), OPTIONAL_DIGEST, *optional("page", "max_rows", "attempt")],
    ),
    "ack": (2, [plain("id"), nested("items", ACK_ITEM)]),
    "sync": (3, [*cursor(None), OPTIONAL_DIGEST]),
    "mark": (4, [*needed("id", "conv"), *optional("from_seq", "read_epoch")]),
    "prefs": (5, [*needed("id", "conv"), *optional("muted", "hidden")]),
    "clear": (6, [*needed("id", "conv"), *optional("up_to_seq")]),
    "read_all": (7, [*needed("id", "sync_version"), *optional("epoch")]),
    "auth": (8, needed("token")),
    "ping": (9, []),
    "welcome": (16, [*needed("conn", "user", "heartbeat_ms"), *ANSWER]),
    "synced": (17, ANSWER),
    "snapshot": (18, [*needed("epoch", "sync_version", "page", "end"), ROWS, plain("next"), *SUMS]),
    "acked": (20, [plain("id"), nested("items", ACKED_ITEM), plain("sync_version"), DIGEST, plain("total")]),
    "hb": (21, [*needed("epoch", "sync_version"), DIGEST, plain("total")]),
    "auth_ok": (22, needed("expires_at")),
    "bye": (23, [*needed("code", "reason"), *optional("retry_ms")]),
    "error": (24, [*needed("id", "code", "message"), *optional("retry_ms")]),
    "delta": (32, [*VERSIONS, ROWS, *SUMS]),
}
