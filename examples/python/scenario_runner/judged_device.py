"""A device of a scenario: the client as it is, with every frame judged after it has taken it."""

import asyncio
from dataclasses import replace
from typing import Any

from tidemark_client import Client, Ending, MemoryStore
from tidemark_client.device_state import Ask, DeviceState, Held
from tidemark_client.frames import Frame

from .ledger import Ledger
from .setting import CuttableSocket, Setting
from .violation import Violation

REPLACED = 4404


class JudgedDevice:
    def __init__(self, name: str, user: str, setting: Setting, ledger: Ledger):
        self.name, self.user = name, user
        self._setting, self._ledger = setting, ledger
        self.frames: list[Frame] = []
        self.stop_after_page: int | None = None
        self._store = MemoryStore()
        self._socket: CuttableSocket | None = None
        self._run: asyncio.Task[Ending] | None = None
        self.client = self._new_client()

    @property
    def is_open(self) -> bool:
        return self._run is not None and not self._run.done() and self.state.greeted

    @property
    def state(self) -> DeviceState:
        return self.client.state

    @property
    def held(self) -> Held:
        """Its complete rows, which it has to have."""
        if self.state.held is None:
            raise Violation(f"{self.name} has no list yet")
        return self.state.held

    @property
    def is_complete(self) -> bool:
        return self.state.held is not None and self.state.work is None and self.state.wish is None

    def count(self, kind: str) -> int:
        return sum(1 for frame in self.frames if frame["t"] == kind)

    async def connect(self, max_rows: int | None = None) -> None:
        """On an open device: a second connection of it, which has to replace the first."""
        first = self._run if self.is_open else None
        if first is not None:
            state = self.state
            self.client = self._new_client()
            self.client.state = replace(state, greeted=False)
        self.client.max_rows = max_rows
        self._run = asyncio.create_task(self.client.run())
        if first is not None:
            await self._replaced(first)

    async def disconnect(self, abrupt: bool) -> None:
        if self._run is None:
            return
        if not self._run.done() and abrupt:
            self._cut()
        elif not self._run.done():
            self.client.close()
        await self._run
        self._run = None

    def forget(self) -> None:
        self.client.state = replace(self.state, held=None, work=None)

    def damage(self) -> None:
        """One stored row is not what the server has said."""
        held = self.held
        row = next(iter(held.rows.rows.values()))
        wrong = held.rows.exchanged([{**row, "read_epoch": row["read_epoch"] + 1}])
        self.client.state = replace(self.state, held=replace(held, rows=wrong))

    def _new_client(self) -> Client:
        client: Client

        async def token() -> str:
            return self._setting.server.token(self.user)

        client = Client(
            self._setting.server.url,
            self.name.split(".")[1],
            token,
            store=self._store,
            codec=self._setting.codec,
            open_socket=self._open,
            on_frame=lambda frame: self._judge(client, frame),
            on_ask=self._asked,
        )
        return client

    async def _open(self, url: str, subprotocol: str) -> Any:
        self._socket = await self._setting.open_socket(url, subprotocol)
        return self._socket

    def _cut(self) -> None:
        if self._socket is not None:
            self._socket.cut()
        self.client.close()

    async def _replaced(self, run: asyncio.Task[Ending]) -> None:
        done, _ = await asyncio.wait([run], timeout=self._setting.timeout_s)
        if not done:
            run.cancel()
            self._ledger.break_rule(f"{self.name}: the older connection stays open")
        elif run.result().code != REPLACED:
            self._ledger.break_rule(f"{self.name}: the older connection ended with {run.result()}")

    def _asked(self, why: Ask) -> None:
        # The client would repair itself, and the repair would hide the fault.
        if why != "foreground":
            self._ledger.break_rule(f"{self.name} has to ask by sync: {why}")

    def _judge(self, client: Client, frame: Frame) -> None:
        if client is not self.client:
            return
        self.frames.append(frame)
        if frame["t"] in ("bye", "error"):
            self._ledger.break_rule(f"{self.name}: {frame}")
        self._ledger.frame(self.name, self.user, self.state, frame)
        if frame["t"] == "snapshot" and frame["page"] == self.stop_after_page and not frame["end"]:
            self.stop_after_page = None
            self._cut()
