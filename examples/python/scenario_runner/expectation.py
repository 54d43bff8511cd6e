"""What a scenario expects of rows and sums, held against those of a device or of GET unread."""

from typing import Any

from tidemark_client.digest import is_listed
from tidemark_client.row_set import Row, RowSet

from .names import Names
from .violation import NotSupported

FIELDS = {"read": "read_seq", "epoch": "read_epoch", "head": "head_seq"}
PLACES = ("read", "epoch", "head", "version")
FLAGS = ("muted", "marked", "capped")
SUMS = ("total", "badge", "mentions")
KNOWN_KEYS = {"do", "on", "device", "user", "rows", "count", "version", "first", "limit", "unreadOnly", *SUMS}


def mismatch(step: dict[str, Any], rows: RowSet, sums: dict[str, Any], names: Names) -> str | None:
    """The first thing that is not as the step wants it."""
    if step.keys() - KNOWN_KEYS:
        raise NotSupported(f"expect: {step.keys() - KNOWN_KEYS}")
    for conv, wanted in step.get("rows", {}).items():
        row = rows.rows.get(names.id(conv))
        fault = _row_mismatch(row, wanted, conv, names)
        if fault is not None:
            return f"{conv}: {fault}; the row is {row}"
    for name in SUMS:
        if name in step and sums[name] != step[name]:
            return f"{name}: expected {step[name]}, got {sums[name]}"
    if "count" in step and len(rows.listed()) != step["count"]:
        return f"listed rows: expected {step['count']}, got {len(rows.listed())}"
    return None


def _row_mismatch(row: Row | None, wanted: Any, conv: str, names: Names) -> str | None:
    if wanted in ("gone", "absent", "tombstone"):
        # The client keeps no tombstones once its state is complete.
        return "it is still listed" if row is not None and is_listed(row) else None
    if row is None or not is_listed(row):
        return "it is not listed"
    if wanted == "listed":
        return None
    for name, value in wanted.items():
        got = bool(row.get(name)) if name in FLAGS else row[FIELDS.get(name, name)]
        expected = names.seq(value, conv) if name in PLACES else value
        if got != expected:
            return f"{name}: expected {expected}, got {got}"
    return None
