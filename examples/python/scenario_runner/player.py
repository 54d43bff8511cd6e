"""Plays one scenario: its steps in order, and at the end a comparison of everything with everything."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from tidemark_client.row_set import RowSet

from .command_steps import CommandSteps
from .comparison import compare_all, compare_now
from .event_steps import EventSteps, Step, only
from .expectation import mismatch
from .names import Names
from .scene import Scene
from .setting import SILENCE_S, Setting
from .socket_steps import SocketSteps
from .violation import NotSupported, Violation


async def play(scenario: dict[str, Any], setting: Setting) -> None:
    """Raises Violation, with the step in its notes, for whatever is not as scenario and protocol want it."""
    player = Player(Scene(Names(scenario.get("ids", {})), setting))
    try:
        for name in scenario.get("checkUsers", []):
            player.scene.names.user(name)
        await player.steps(scenario["steps"], "")
        await compare_all(player.scene)
    finally:
        for device in player.scene.devices.values():
            await device.disconnect(abrupt=True)


class Player:
    def __init__(self, scene: Scene):
        self.scene = scene
        self._sockets = SocketSteps(scene)
        self._books = (EventSteps(scene), CommandSteps(scene), self._sockets, self)

    async def steps(self, steps: list[Step], at: str) -> None:
        for place, step in enumerate(steps, 1):
            try:
                await self._handler(step["do"])(step)
                self.scene.ledger.check()
            except Violation as violation:
                violation.add_note(f"step {at}{place} {step['do']}")
                raise

    def _handler(self, kind: str) -> Callable[[Step], Awaitable[None]]:
        for book in self._books:
            if kind in STEP_KINDS and hasattr(book, kind):
                return getattr(book, kind)
        raise NotSupported(f"step {kind}")

    async def expect(self, step: Step) -> None:
        for device in self.scene.on(step.get("device", step.get("on"))):

            def fault() -> str | None:
                if not device.is_complete:
                    return "its state is not complete"
                held = device.held
                if "version" in step and held.version != self.scene.names.seq(step["version"], ""):
                    return f"version {held.version}"
                return mismatch(step, held.rows, held.sums(), self.scene.names)

            await self.scene.until(lambda: fault() is None, lambda: f"{device.name}: {fault()}")
            await compare_now(self.scene, device)

    async def unread(self, step: Step) -> None:
        user = self.scene.names.user(step["user"])
        end = asyncio.get_running_loop().time() + self.scene.setting.timeout_s
        while True:
            answer = await self.scene.server.unread(user, step.get("limit"), step.get("unreadOnly", False))
            fault = mismatch(step, RowSet().exchanged(answer["rows"]), answer, self.scene.names)
            wanted = [self.scene.names.id(name) for name in step.get("first", [])]
            first = [row["conv"] for row in answer["rows"][: len(wanted)]]
            if fault is None and first == wanted:
                return
            if asyncio.get_running_loop().time() > end:
                raise Violation(f"GET unread of {step['user']}: {fault or first}")

    async def expectSilence(self, step: Step) -> None:
        only(step, "on", "during")
        await self.scene.settle()
        devices = self.scene.on(step.get("on"))
        before = [(device.count("delta"), device.count("snapshot"), device.held.version) for device in devices]
        await self.steps(step.get("during", []), "during ")
        await asyncio.sleep(SILENCE_S)
        for device, counts in zip(devices, before, strict=True):
            await self._sockets.heartbeat(device)
            now = (device.count("delta"), device.count("snapshot"), device.held.version)
            if now != counts:
                raise Violation(f"{device.name}: deltas, pages, version where none is due", counts, now)

    async def expectDeltas(self, step: Step) -> None:
        only(step, "on", "during", "op", "steps", "atLeast")
        await self.scene.settle()
        devices = {name: self.scene.device(name) for name in step["on"]}
        before = {name: (len(device.frames), device.held.version) for name, device in devices.items()}
        await self.steps(step["during"], "during ")

        def came(name: str) -> list[Step]:
            return [frame for frame in devices[name].frames[before[name][0] :] if frame["t"] == "delta"]

        for name, wanted in step["on"].items():
            await self.scene.until(
                lambda: len(came(name)) >= wanted, lambda: f"{name}: {len(came(name))} of {wanted} deltas"
            )
        await self.scene.settle()
        for name, wanted in step["on"].items():
            rise = devices[name].held.version - before[name][1]
            steps = step.get("steps", rise)
            ops = step.get("op", [frame["op"] for frame in came(name)])
            if len(came(name)) != wanted and not (step.get("atLeast") and len(came(name)) > wanted):
                raise Violation(f"{name}: deltas", wanted, len(came(name)))
            if rise != (steps[name] if isinstance(steps, dict) else steps):
                raise Violation(f"{name}: rise of sync_version", steps, rise)
            if any(frame["op"] not in ops for frame in came(name)):
                raise Violation(f"{name}: op", ops, came(name))

    async def expectAcked(self, step: Step) -> None:
        left = self.scene.device(step["device"]).client.commands.queue.not_answered()
        if left:
            raise Violation("commands without an answer", 0, left)

    async def note(self, step: Step) -> None:
        only(step, "device", "what", "conv", "as")
        held = self.scene.device(step["device"]).held
        fields = {"epoch": "read_epoch", "read": "read_seq", "rowVersion": "version"}
        if step["what"] == "version":
            value = held.version
        else:
            value = held.rows.rows[self.scene.names.id(step["conv"])][fields[step["what"]]]
        self.scene.names.noted[step["as"]] = value

    async def settle(self, step: Step) -> None:
        only(step)
        await self.scene.settle()

    async def wait(self, step: Step) -> None:
        only(step, "ms")
        await asyncio.sleep(step["ms"] / 1000)

    async def parallel(self, step: Step) -> None:
        only(step, "steps")
        await asyncio.gather(*(self.steps([each], "parallel ") for each in step["steps"]))

    async def repeat(self, step: Step) -> None:
        only(step, "n", "steps")
        for number in range(1, step["n"] + 1):
            text = json.dumps(step["steps"]).replace('"$i"', str(number)).replace("$i", str(number))
            await self.steps(json.loads(text), f"round {number} ")


STEP_KINDS = frozenset(
    """create join leave dissolve purge recall edit post duplicate
    ack ackHttp mark mute unmute hide unhide clear readAll
    connect foreground disconnect save drop ping
    expect unread expectMode expectSilence expectDeltas expectAcked
    note settle wait parallel repeat""".split()
)
