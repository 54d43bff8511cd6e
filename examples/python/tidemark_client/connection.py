"""One socket: frames in and out, the silence after which it is given up, and how it ended."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from .close_codes import ABNORMAL, NORMAL, PROTOCOL_ERROR
from .frames import Frame, FrameFault
from .websocket import Socket, SocketClosed

# CD7: so long beyond a heartbeat without any frame, or without a welcome, and the socket is dead.
GRACE_MS = 8_000
WELCOME_MS = 10_000


class Codec(Protocol):
    """`json_codec` or `msgpack_codec`."""

    SUBPROTOCOL: str

    def encode(self, frame: Frame) -> Any: ...

    def decode(self, message: Any) -> Frame: ...


@dataclass(frozen=True)
class Ending:
    code: int
    why: str
    # In bye: so long the server wants the client to stay away.
    retry_ms: int | None = None


class Connection:
    def __init__(
        self,
        socket: Socket,
        codec: Codec,
        hear: Callable[[Frame], None],
        lose: Callable[[], None],
        grace_ms: int = GRACE_MS,
    ):
        """`hear` gets each frame; `lose` is called for one that cannot be read."""
        self._socket, self._codec, self._hear, self._lose = socket, codec, hear, lose
        self._grace_ms = grace_ms
        # None closes the socket, after the frames that were sent before (DT6).
        self._outgoing: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._silence_s = WELCOME_MS / 1000

    def send(self, frame: Frame) -> None:
        self._outgoing.put_nowait(frame)

    def close(self) -> None:
        self._outgoing.put_nowait(None)

    async def live(self) -> Ending:
        """Until either side has closed the socket."""
        writer = asyncio.create_task(self._write())
        try:
            return await self._read()
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    async def _write(self) -> None:
        try:
            while (frame := await self._outgoing.get()) is not None:
                await self._socket.send(self._codec.encode(frame))
            await self._socket.close(NORMAL)
        except SocketClosed:
            # The reader learns of it too, and says how it ended.
            return

    async def _read(self) -> Ending:
        bye: Frame | None = None
        try:
            while True:
                frame = self._decoded(await asyncio.wait_for(self._socket.receive(), self._silence_s))
                if frame is None:
                    continue
                if frame["t"] == "welcome":
                    self._silence_s = (frame["heartbeat_ms"] + self._grace_ms) / 1000
                if frame["t"] == "bye":
                    bye = frame
                self._hear(frame)
        except SocketClosed as end:
            if bye is not None:
                return Ending(bye["code"], bye["reason"], bye.get("retry_ms"))
            return Ending(end.code, str(end))
        except TimeoutError:
            await self._socket.close(NORMAL)
            return Ending(ABNORMAL, "nothing came for too long")
        except FrameFault as fault:
            await self._socket.close(PROTOCOL_ERROR)
            return Ending(ABNORMAL, str(fault))

    def _decoded(self, message: str | bytes) -> Frame | None:
        try:
            return self._codec.decode(message)
        except FrameFault as fault:
            if fault.fatal:
                raise
            # A type that only a newer server knows is passed over; anything else is a frame that is missing now.
            if fault.code != "unknown_frame":
                self._lose()
            return None
