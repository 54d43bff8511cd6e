"""The part of MessagePack that the protocol uses (MP1), read without trusting any length (MP4)."""

import struct
from typing import Any

# Frame, list, item: no known element lies deeper. Deeper arrays can only be elements to skip.
MAX_KNOWN_DEPTH = 3


class Foreign:
    """Stands for a value of a type that no field has: float, map, extension, text that is no UTF-8, deep array."""

    def __repr__(self) -> str:
        return "FOREIGN"


FOREIGN = Foreign()


class NotMessagePack(Exception):
    """The bytes are not one whole MessagePack value."""


def pack(value: Any) -> bytes:
    """nil, booleans, integers in their shortest form, strings, binaries, lists."""
    if value is None:
        return b"\xc0"
    if value is False or value is True:
        return b"\xc3" if value else b"\xc2"
    if type(value) is int:
        return _pack_int(value)
    if type(value) is str:
        data = value.encode()
        return _head(len(data), 0xA0, 32, 0xD9) + data
    if type(value) is bytes:
        return _head(len(value), 0, 0, 0xC4) + value
    return _head(len(value), 0x90, 16, None) + b"".join(pack(item) for item in value)


def _pack_int(value: int) -> bytes:
    if -32 <= value < 128:
        return struct.pack("b" if value < 0 else "B", value)
    forms = (0xD0, "bhiq") if value < 0 else (0xCC, "BHIQ")
    for place, form in enumerate(forms[1]):
        bits = 8 * struct.calcsize(">" + form)
        if (-(1 << (bits - 1)) <= value < 0) or (0 <= value < 1 << bits):
            return struct.pack(">B" + form, forms[0] + place, value)
    raise OverflowError(value)


def _head(size: int, fix: int, fix_below: int, first: int | None) -> bytes:
    """Type and length. Arrays (`first` None) have no form with one byte of length."""
    if size < fix_below:
        return bytes([fix | size])
    if first is not None and size < 1 << 8:
        return struct.pack(">BB", first, size)
    code = 0xDC if first is None else first + 1
    return struct.pack(">BH", code, size) if size < 1 << 16 else struct.pack(">BI", code + 1, size)


def unpack(data: bytes) -> Any:
    reader = _Reader(data)
    value = reader.value(depth=1)
    if reader.at != len(data):
        raise NotMessagePack("bytes left over")
    return value


_NUMBERS = {0xCC: "B", 0xCD: "H", 0xCE: "I", 0xCF: "Q", 0xD0: "b", 0xD1: "h", 0xD2: "i", 0xD3: "q"}
_SIZES = {0: "B", 1: "H", 2: "I"}


class _Reader:
    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def value(self, depth: int) -> Any:
        kind, content = self.shallow()
        if kind == "array" and depth <= MAX_KNOWN_DEPTH:
            return [self.value(depth + 1) for _ in range(content)]
        if kind in ("array", "map"):
            self.skip(content if kind == "array" else 2 * content)
            return FOREIGN
        return content

    def skip(self, due: int) -> None:
        """Goes over values without a call for each level, so that depth costs nothing."""
        while due > 0:
            kind, content = self.shallow()
            due += -1 + (content if kind == "array" else 2 * content if kind == "map" else 0)

    def shallow(self) -> tuple[str, Any]:
        """One value; of arrays and maps the number of entries alone."""
        code = self.take(1)[0]
        if code < 0x80 or code >= 0xE0:
            return "value", code if code < 0x80 else code - 0x100
        if code < 0x90:
            return "map", self.entries(code & 0x0F, 2)
        if code < 0xA0:
            return "array", self.entries(code & 0x0F, 1)
        if code < 0xC0:
            return "value", self.text(code & 0x1F)
        if code in _NUMBERS:
            return "value", self.number(_NUMBERS[code])
        if code in (0xC0, 0xC2, 0xC3):
            return "value", {0xC0: None, 0xC2: False, 0xC3: True}[code]
        if 0xC4 <= code <= 0xC6:
            return "value", self.take(self.size(code - 0xC4))
        if 0xD9 <= code <= 0xDB:
            return "value", self.text(self.size(code - 0xD9))
        if code in (0xDC, 0xDD):
            return "array", self.entries(self.size(code - 0xDB), 1)
        if code in (0xDE, 0xDF):
            return "map", self.entries(self.size(code - 0xDD), 2)
        return "value", self.foreign(code)

    def foreign(self, code: int) -> Foreign:
        if 0xC7 <= code <= 0xC9:
            size = self.size(code - 0xC7) + 1
        elif code in (0xCA, 0xCB):
            size = 4 if code == 0xCA else 8
        elif 0xD4 <= code <= 0xD8:
            size = 1 + (1 << (code - 0xD4))
        else:
            raise NotMessagePack(f"byte {code:#x}")
        self.take(size)
        return FOREIGN

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise NotMessagePack("the end is missing")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, form: str) -> int:
        return struct.unpack(">" + form, self.take(struct.calcsize(">" + form)))[0]

    def size(self, width: int) -> int:
        return self.number(_SIZES[width])

    def entries(self, count: int, values_each: int) -> int:
        if count * values_each > len(self.data) - self.at:
            raise NotMessagePack("more entries than bytes")
        return count

    def text(self, size: int) -> Any:
        try:
            return self.take(size).decode()
        except UnicodeDecodeError:
            return FOREIGN
