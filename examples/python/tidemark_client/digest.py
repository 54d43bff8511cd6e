"""The digest: a 48-bit additive hash over the listed rows (SPEC section 9)."""

import hashlib
from collections.abc import Iterable
from typing import Any

MODULUS = 2**48


def is_listed(row: dict[str, Any]) -> bool:
    return not row.get("gone") and not row.get("hidden")


def canonical(row: dict[str, Any]) -> str:
    flags = "".join(letter for name, letter in (("muted", "m"), ("marked", "k"), ("capped", "c")) if row.get(name))
    return f"{row['unread']}|{row['mentions']}|{row['read_epoch']}|{row['read_seq']}|{flags}|{row['conv']}"


def row_digest(row: dict[str, Any]) -> int:
    """What the row adds: 48 bits, 0 where it is not listed (SY8)."""
    if not is_listed(row):
        return 0
    return int.from_bytes(hashlib.sha1(canonical(row).encode()).digest()[:6], "big")


def digest_of(rows: Iterable[dict[str, Any]]) -> int:
    return sum(map(row_digest, rows)) % MODULUS


def digest_text(value: int) -> str:
    return f"{value:012x}"
