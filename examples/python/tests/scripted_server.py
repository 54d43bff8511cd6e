"""A server whose sockets follow a script."""

from collections.abc import Awaitable, Callable
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from tidemark_client.row_set import RowSet

from .test_reducer import EPOCH, row

# What every script shows.
ROWS = RowSet().with_rows([row("a", 1, 3)])


class ScriptedServer:
    """Sockets of the real kind, with a script for each in turn; the last is played for all that follow."""

    def __init__(self, codec: Any, *scripts: Callable[["Line"], Awaitable[None]]):
        self.codec, self.scripts = codec, list(scripts)
        self.hellos: list[dict[str, Any]] = []

    async def __aenter__(self) -> "ScriptedServer":
        # Empty where no subprotocol is spoken: the server takes the socket all the same, and says why it closes it.
        protocols = [] if self.codec is None else [self.codec.SUBPROTOCOL]
        select = None if self.codec is not None else lambda connection, offered: None
        self._server = await serve(self._serve, "127.0.0.1", 0, subprotocols=protocols, select_subprotocol=select)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: Any) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, connection: ServerConnection) -> None:
        script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
        line = Line(connection, self.codec)
        try:
            if self.codec is not None:
                self.hellos.append(await line.receive())
            await script(line)
        except ConnectionClosed:
            return


class Line:
    def __init__(self, connection: ServerConnection, codec: Any):
        self.connection, self._codec = connection, codec

    async def send(self, **frame: Any) -> None:
        await self.connection.send(self._codec.encode(frame))

    async def receive(self) -> dict[str, Any]:
        return self._codec.decode(await self.connection.recv(), "client")

    async def welcome(self, mode: str = "noop", heartbeat_ms: int = 25_000, **more: Any) -> None:
        await self.send(
            t="welcome",
            conn="n1",
            user="u1",
            epoch=EPOCH,
            sync_version=1,
            mode=mode,
            heartbeat_ms=heartbeat_ms,
            expires_at=1,
            **more,
            **ROWS.sums(),
        )

    async def snapshot(self) -> None:
        await self.welcome("snapshot", reason="first")
        rows = list(ROWS.rows.values())
        await self.send(t="snapshot", epoch=EPOCH, sync_version=1, page=1, rows=rows, end=True, **ROWS.sums())

    async def until_closed(self) -> None:
        await self.connection.wait_closed()
