"""The device: one state, one queue of commands, one socket after the other."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from . import json_codec
from .back_off import reconnect_delay_s, sync_delay_s
from .close_codes import ABNORMAL, after_close
from .commands import Commands
from .connection import Codec, Connection, Ending
from .device_state import Ask, DeviceState
from .frames import Frame
from .overlay import overlaid
from .reducer import Step, asking, foreground, received, reconnecting, unreadable
from .row_set import Row, RowSet
from .store import MemoryStore, Saved, Store
from .websocket import Socket, SocketClosed, open_websocket


@dataclass(frozen=True)
class Shown:
    """For the screen: the server's rows and sums, with what the user has just asked for laid over them (CD1)."""

    rows: dict[str, Row]
    total: int
    badge: int
    mentions: int
    # False before the first snapshot is complete: then an empty list means nothing.
    is_loaded: bool


class Client:
    def __init__(
        self,
        url: str,
        device: str,
        get_token: Callable[[], Awaitable[str]],
        *,
        store: Store | None = None,
        codec: Codec = json_codec,
        open_socket: Callable[[str, str], Awaitable[Socket]] = open_websocket,
        chance: Callable[[], float] = random.random,
        on_frame: Callable[[Frame], None] = lambda frame: None,
        on_change: Callable[[], None] = lambda: None,
        on_ask: Callable[[Ask], None] = lambda why: None,
        on_pause: Callable[[Ending, float], None] = lambda ending, delay_s: None,
        max_rows: int | None = None,
    ):
        """`url` is that of the server, http(s) or ws(s). `on_frame` hears each frame after the state has
        taken it, `on_ask` why the device asks by sync: everything but "foreground" is a fault on the way to it,
        `on_pause` how a socket ended, or did not come about, and in how many seconds the next is opened."""
        self._url = "ws" + url.removeprefix("http").removeprefix("ws").rstrip("/") + "/v1/ws"
        self._device, self._get_token, self._codec, self._open_socket = device, get_token, codec, open_socket
        self._on_pause = on_pause
        self._store = MemoryStore() if store is None else store
        self._chance, self._on_frame, self._on_change, self._on_ask = chance, on_frame, on_change, on_ask
        self.max_rows = max_rows
        saved = self._store.load()
        self.state = DeviceState(saved.held)
        self._attempt = saved.attempt
        self.commands = Commands(lambda: self.state.held, self._commands_changed)
        for command in saved.commands:
            self.commands.queue.add(command)
        self._connection: Connection | None = None
        self._sync_timer: asyncio.TimerHandle | None = None
        self._is_closing = False
        self._wake = asyncio.Event()

    def shown(self) -> Shown:
        held = self.state.held
        rows = RowSet() if held is None else held.rows
        sums = RowSet().sums() if held is None else held.sums()
        ahead = overlaid(rows, self.commands.queue.not_answered())
        changes = {name: getattr(ahead, name) - getattr(rows, name) for name in ("total", "badge", "mentions")}
        said = {name: sums[name] + change for name, change in changes.items()}
        return Shown(ahead.listed(), **said, is_loaded=held is not None)

    async def run(self) -> Ending:
        """Connects again and again, until `close` is called or a close code says to stay away."""
        try:
            return await self._sockets()
        finally:
            self._is_closing = False

    def close(self) -> None:
        """Ends `run`, or the next one if none is under way. Commands that were sent before are carried out (DT6)."""
        self._is_closing = True
        self._wake.set()
        if self._connection is not None:
            self._flush()
            self._connection.close()

    def foreground(self) -> None:
        """The app is looked at again, or the network is back: no more waiting, and nothing missed."""
        self._wake.set()
        self._take(foreground(self.state))

    def send(self, frame: Frame) -> None:
        """A frame beside state and commands, as `ping` and `auth`. Nothing happens without a socket."""
        if self._connection is not None:
            self._connection.send(frame)

    async def _sockets(self) -> Ending:
        failures = 0
        while True:
            ending, was_greeted = await self._one_socket()
            self._end_of_socket()
            todo = after_close(ending.code)
            if self._is_closing or todo == "stay_away":
                return ending
            failures = 1 if was_greeted else failures + 1
            # Not twice in a row: a server that sends everybody away would be asked without end.
            is_at_once = was_greeted and todo in ("come_back", "new_token")
            delay_s = 0.0 if is_at_once else reconnect_delay_s(failures, self._chance())
            if ending.retry_ms is not None:
                delay_s = ending.retry_ms / 1000
            self._on_pause(ending, delay_s)
            await self._pause(delay_s)
            if self._is_closing:
                return ending

    async def _one_socket(self) -> tuple[Ending, bool]:
        """How it ended, and whether a welcome had come."""
        # Stored first: the server takes the highest number of a device for the newest socket, over restarts as well.
        self._attempt += 1
        self._save()
        try:
            token = await self._get_token()
            socket = await self._open_socket(self._url, self._codec.SUBPROTOCOL)
        except SocketClosed as end:
            return Ending(end.code, str(end)), False
        except OSError as fault:
            return Ending(ABNORMAL, f"no token: {fault}"), False
        connection = Connection(socket, self._codec, self._hear, lambda: self._take(unreadable(self.state)))
        self.state, stand = reconnecting(self.state)
        rows = {} if self.max_rows is None else {"max_rows": self.max_rows}
        hello = {"t": "hello", "token": token, "device": self._device, **stand, **rows, "attempt": self._attempt}
        connection.send(hello)
        self._connection = connection
        if self._is_closing:
            connection.close()
        return await connection.live(), self.state.greeted

    def _end_of_socket(self) -> None:
        self._connection = None
        self.state = replace(self.state, greeted=False)
        self.commands.queue.send_all_again()
        self._stop_sync_timer()

    def _stop_sync_timer(self) -> None:
        if self._sync_timer is not None:
            self._sync_timer.cancel()

    async def _pause(self, delay_s: float) -> None:
        self._wake.clear()
        try:
            await asyncio.wait_for(self._wake.wait(), delay_s)
        except TimeoutError:
            return

    def _hear(self, frame: Frame) -> None:
        self._take(received(self.state, frame))
        if frame["t"] == "acked":
            self.commands.acked(frame)
        elif frame["t"] == "error" and "id" in frame:
            self.commands.refused(frame)
        elif frame["t"] == "welcome":
            self._flush()
        self._on_frame(frame)

    def _take(self, step: Step) -> None:
        before, self.state = self.state.held, step.state
        if step.asks is not None:
            self._stop_sync_timer()
            delay_s = sync_delay_s(self.state.fruitless)
            self._sync_timer = asyncio.get_running_loop().call_later(delay_s, self._send_sync)
            self._on_ask(step.asks)
        if self.state.held is not before:
            self._save()
            self._on_change()

    def _send_sync(self) -> None:
        if self.state.wish == "wanted":
            self.state, frame = asking(self.state)
            self.send(frame)

    def _commands_changed(self) -> None:
        self._save()
        self._on_change()
        # Commands that are given at one go share their frames.
        asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        if self._connection is not None and self.state.greeted and not self.commands.is_held_back:
            for frame in self.commands.queue.frames():
                self._connection.send(frame)

    def _save(self) -> None:
        self._store.save(Saved(self.state.held, self._attempt, self.commands.queue.not_answered()))
