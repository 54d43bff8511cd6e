"""`python -m tidemark_client --url … --token …`: the badges of one user, live, on the console."""

import argparse
import asyncio
from pathlib import Path

from . import json_codec, msgpack_codec
from .client import Client, Shown
from .connection import Ending
from .frames import Frame
from .row_set import Row
from .store import FileStore, MemoryStore

CODECS = {"json": json_codec, "msgpack": msgpack_codec}
FLAGS = ("muted", "marked", "capped")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tidemark_client", description=__doc__)
    parser.add_argument("--url", required=True, help="of the server, as in http://127.0.0.1:8080")
    parser.add_argument("--token", required=True, help="JWT of the user")
    parser.add_argument("--device", default="python-console", help="id of this device (%(default)s)")
    parser.add_argument("--codec", choices=CODECS, default="json", help="subprotocol (%(default)s)")
    parser.add_argument("--state", type=Path, help="file that keeps rows and cursor from run to run")
    return parser.parse_args()


def lines(shown: Shown) -> list[str]:
    """One line of sums, then one for each conversation with something unread."""
    if not shown.is_loaded:
        return ["…"]
    head = f"badge {shown.badge}  total {shown.total}  mentions {shown.mentions}"
    rows = [row for row in shown.rows.values() if row["unread"] or row.get("marked")]
    rows.sort(key=lambda row: -row["version"])
    return [head, *(f"  {row['conv']}  {_counts(row)}" for row in rows)]


def _counts(row: Row) -> str:
    unread = f"{row['unread']}{'+' if row.get('capped') else ''}"
    mentions = f" @{row['mentions']}" if row["mentions"] else ""
    return " ".join([unread + mentions, *(flag for flag in FLAGS if row.get(flag) and flag != "capped")])


async def main() -> int:
    given = options()
    client: Client

    async def token() -> str:
        return given.token

    def show() -> None:
        print("\n".join(lines(client.shown())), flush=True)

    def note(frame: Frame) -> None:
        if frame["t"] in ("welcome", "synced", "bye"):
            print(f"[{frame['t']}: {frame.get('mode', frame.get('reason'))}]", flush=True)

    def note_pause(ending: Ending, delay_s: float) -> None:
        print(f"[closed with {ending.code}: {ending.why}; again in {delay_s:.1f} s]", flush=True)

    client = Client(
        given.url,
        given.device,
        token,
        codec=CODECS[given.codec],
        store=MemoryStore() if given.state is None else FileStore(given.state),
        on_frame=note,
        on_change=show,
        on_pause=note_pause,
    )
    ending = await client.run()
    print(f"closed with {ending.code}: {ending.why}")
    return 1


if __name__ == "__main__":
    try:
        raise SystemExit(asyncio.run(main()))
    except KeyboardInterrupt:
        raise SystemExit(0) from None
