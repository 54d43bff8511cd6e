"""Where and how scenarios are played."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tidemark_client import json_codec
from tidemark_client.connection import Codec
from tidemark_client.websocket import WebSocket, open_websocket

from .server_api import ServerApi

# How long nothing must come where silence is expected.
SILENCE_S = 0.3


class CuttableSocket(WebSocket):
    def cut(self) -> None:
        """The line is gone: no close frame in either direction."""
        self.connection.transport.abort()


async def open_cuttable(url: str, subprotocol: str) -> CuttableSocket:
    socket = await open_websocket(url, subprotocol)
    return CuttableSocket(socket.connection)


@dataclass(frozen=True)
class Setting:
    server: ServerApi
    codec: Codec = json_codec
    open_socket: Callable[[str, str], Awaitable[CuttableSocket]] = open_cuttable
    # How long a number may take.
    timeout_s: float = 3.0
