"""Steps with the device's line and its state."""

import asyncio
from dataclasses import replace
from typing import Any

from tidemark_client.frames import Frame

from .event_steps import Step, only, several
from .judged_device import JudgedDevice
from .scene import Scene
from .setting import SILENCE_S
from .violation import NotSupported, Violation

ANSWER_KEYS = ("device", "cursor", "digest", "mode", "reason", "deltas", "wait")


class SocketSteps:
    def __init__(self, scene: Scene):
        self.scene = scene
        self._saved: dict[tuple[str, str], Any] = {}

    async def connect(self, step: Step) -> None:
        only(step, "page", "maxRows", "stopAfterPages", "firstRows", *ANSWER_KEYS)
        device = self.scene.device(step["device"])
        await self._set_stand(device, step)
        device.stop_after_page = step.get("stopAfterPages")
        before = len(device.frames)
        await device.connect(step.get("maxRows"))
        if "stopAfterPages" in step:
            await self.scene.until(
                lambda: device.stop_after_page is None, lambda: f"{device.name}: the page did not come"
            )
            await device.disconnect(abrupt=True)
            return
        await self._answered(device, step, before, "welcome")

    async def foreground(self, step: Step) -> None:
        only(step, *ANSWER_KEYS)
        device = self.scene.device(step["device"])
        await self._set_stand(device, step)
        before = len(device.frames)
        device.client.foreground()
        await self._answered(device, step, before, "synced")

    async def disconnect(self, step: Step) -> None:
        only(step, "device", "how")
        await self.scene.device(step["device"]).disconnect(step.get("how", "abrupt") == "abrupt")

    async def save(self, step: Step) -> None:
        only(step, "device", "as")
        self._saved[step["device"], step["as"]] = self.scene.device(step["device"]).client.state

    async def drop(self, step: Step) -> None:
        only(step, "device")
        self.scene.device(step["device"]).forget()

    async def ping(self, step: Step) -> None:
        only(step, "device")
        await self.heartbeat(self.scene.device(step["device"]))

    async def expectMode(self, step: Step) -> None:
        only(step, "device", "mode", "reason")
        self._judge(self._last_answer(step), step)

    def _last_answer(self, step: Step) -> Frame:
        frames = reversed(self.scene.device(step["device"]).frames)
        return next(frame for frame in frames if frame["t"] in ("welcome", "synced"))

    async def heartbeat(self, device: JudgedDevice) -> None:
        """A round trip: whatever was on its way before has come."""
        before = device.count("hb")
        device.client.send({"t": "ping"})
        await self.scene.until(lambda: device.count("hb") > before, lambda: f"{device.name}: no hb for a ping")

    async def _set_stand(self, device: JudgedDevice, step: Step) -> None:
        """What the device will say of itself: the client names what it holds, so that is what has to change."""
        if "mode" in step or "deltas" in step:
            await self.scene.settle()
        if step.get("digest") == "wrong":
            device.damage()
        how, held = step.get("cursor"), device.state.held
        if how is None:
            return
        if how == "none":
            device.forget()
        elif how.startswith("saved:"):
            device.client.state = self._saved[device.name, how.removeprefix("saved:")]
        elif held is not None and how in ("foreign", "foreignLow", "ahead"):
            other = {"version": held.version + 1000} if how == "ahead" else {"epoch": "e-of-another-life"}
            device.client.state = replace(device.state, held=replace(held, **other))
        else:
            raise NotSupported(f"connect: cursor {how}")

    async def _answered(self, device: JudgedDevice, step: Step, before: int, kind: str) -> None:
        def answers() -> list[Frame]:
            return [frame for frame in device.frames[before:] if frame["t"] == kind]

        await self.scene.until(lambda: bool(answers()), lambda: f"{device.name}: no {kind}")
        self._judge(answers()[0], step)
        if step.get("wait") is False:
            return
        await self.scene.until(lambda: device.is_complete, lambda: f"{device.name}: the answer has no end")
        if step.get("mode") == "noop":
            await asyncio.sleep(SILENCE_S)
        deltas = sum(1 for frame in device.frames[before:] if frame["t"] == "delta")
        wanted = 0 if step.get("mode") == "noop" else step.get("deltas", deltas)
        if deltas != wanted:
            raise Violation(f"{device.name}: deltas after {kind}", wanted, deltas)
        self._first_rows(device, step, before)

    def _first_rows(self, device: JudgedDevice, step: Step, before: int) -> None:
        pages = [frame for frame in device.frames[before:] if frame["t"] == "snapshot"]
        if any(len(page["rows"]) > step.get("maxRows", len(page["rows"])) for page in pages):
            raise Violation("rows of a page", step["maxRows"], [len(page["rows"]) for page in pages])
        if "firstRows" in step:
            wanted = [self.scene.names.id(name) for name in step["firstRows"]]
            got = [row["conv"] for row in pages[0]["rows"][: len(wanted)]]
            if got != wanted:
                raise Violation("newest conversations first", wanted, got)

    def _judge(self, answer: Frame, step: Step) -> None:
        for name in ("mode", "reason"):
            wanted = step.get(name)
            if name == "reason" and answer["mode"] != "snapshot":
                continue
            if wanted is not None and answer.get(name) not in several(wanted):
                raise Violation(name, wanted, answer)
