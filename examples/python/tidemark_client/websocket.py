"""The one place that knows the `websockets` package. Another WebSocket is injected as another `open_socket`."""

from typing import Protocol

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.typing import Subprotocol

from .close_codes import ABNORMAL, UNSUPPORTED_VERSION

OPEN_TIMEOUT_S = 10
# A frame has at most 64 KiB; a single version with very many rows may make a delta larger (section 7).
MAX_MESSAGE_BYTES = 16 * 1024 * 1024


class SocketClosed(Exception):
    """The socket is gone, or never opened; `code` is its close code."""

    def __init__(self, code: int, why: str):
        super().__init__(why)
        self.code = code


class Socket(Protocol):
    """What the client needs of a WebSocket. Every method may raise SocketClosed."""

    async def send(self, message: str | bytes) -> None: ...

    async def receive(self) -> str | bytes: ...

    async def close(self, code: int) -> None: ...


class WebSocket:
    def __init__(self, connection: ClientConnection):
        self.connection = connection

    async def send(self, message: str | bytes) -> None:
        try:
            await self.connection.send(message)
        except ConnectionClosed as end:
            raise _closed(end) from end

    async def receive(self) -> str | bytes:
        try:
            return await self.connection.recv()
        except ConnectionClosed as end:
            raise _closed(end) from end

    async def close(self, code: int) -> None:
        await self.connection.close(code)


async def open_websocket(url: str, subprotocol: str) -> "WebSocket":
    """Without compression, which the server never agrees to, and without pings: heartbeats tell of silence (CD7)."""
    try:
        connection = await connect(
            url,
            subprotocols=[Subprotocol(subprotocol)],
            compression=None,
            max_size=MAX_MESSAGE_BYTES,
            open_timeout=OPEN_TIMEOUT_S,
            ping_interval=None,
        )
    except (OSError, InvalidHandshake, InvalidURI) as fault:
        raise SocketClosed(ABNORMAL, str(fault)) from fault
    if connection.subprotocol != subprotocol:
        await connection.close()
        raise SocketClosed(UNSUPPORTED_VERSION, f"the server does not speak {subprotocol}")
    return WebSocket(connection)


def _closed(end: ConnectionClosed) -> SocketClosed:
    return SocketClosed(ABNORMAL if end.rcvd is None else end.rcvd.code, str(end))
