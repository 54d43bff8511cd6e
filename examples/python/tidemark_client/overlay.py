"""What the user has asked for and the server has not answered yet, laid over the rows (CD1).

Only effects that need no count are shown ahead: a row read to its end, a flag, a row that goes. The number that is left
after an ack in the middle is the server's affair.
"""

from collections.abc import Iterable

from .command_queue import Command
from .digest import is_listed
from .row_set import Row, RowSet


def overlaid(rows: RowSet, commands: Iterable[Command]) -> RowSet:
    for command in commands:
        convs = list(rows.rows) if command.conv is None else [command.conv]
        rows = rows.exchanged(_ahead(rows.rows[conv], command) for conv in convs if conv in rows.rows)
    return rows


def _ahead(row: Row, command: Command) -> Row:
    fields = command.fields
    if command.kind == "ack" and fields.get("seq", 0) >= row["head_seq"]:
        is_late = fields.get("read_epoch", row["read_epoch"]) != row["read_epoch"]
        return row if is_late else _read(row)
    if command.kind == "read_all":
        return _read(row) if is_listed(row) and row["version"] <= fields["sync_version"] else row
    if command.kind == "mark" and "from_seq" not in fields:
        return {**row, "marked": True}
    if command.kind == "prefs":
        return {**row, **fields}
    if command.kind == "clear" and fields.get("up_to_seq", row["head_seq"]) >= row["head_seq"]:
        return {**row, "gone": True}
    return row


def _read(row: Row) -> Row:
    return {**row, "unread": 0, "mentions": 0, "marked": False}
