"""Steps that a user does, on a device or, without one, by HTTP."""

import asyncio
from typing import Any
from urllib.parse import quote

from tidemark_client import Refused

from .event_steps import Step, only, several
from .scene import Scene
from .violation import NotSupported, Violation


class CommandSteps:
    def __init__(self, scene: Scene):
        self.scene, self.names = scene, scene.names

    async def ack(self, step: Step) -> None:
        only(step, "device", "conv", "seq", "epoch", "items", "expect", "read", "unread", "wait")
        device = self.scene.device(step["device"])
        wanted = step.get("items", [step])
        if not isinstance(wanted, list):
            raise NotSupported("ack: generated items")
        answers = []
        for item in wanted:
            read_epoch = self.names.seq(item["epoch"], item["conv"]) if "epoch" in item else None
            seq = self.names.seq(item["seq"], item["conv"])
            answers.append(device.client.commands.ack(self.names.id(item["conv"]), seq, read_epoch=read_epoch))
        if step.get("wait", True):
            items = [await self._answer(answer, "ack") for answer in answers]
            self._judge(wanted, items)

    async def ackHttp(self, step: Step) -> None:
        only(step, "user", "conv", "seq", "epoch", "items", "expect", "read", "unread")
        wanted = step.get("items", [step])
        items = [
            {
                "conv": self.names.id(item["conv"]),
                "seq": self.names.seq(item["seq"], item["conv"]),
                **({"read_epoch": self.names.seq(item["epoch"], item["conv"])} if "epoch" in item else {}),
            }
            for item in wanted
        ]
        answer = await self._http(step, "POST", "read", {"items": items})
        self._judge(wanted, answer["items"])

    async def mark(self, step: Step) -> None:
        only(step, "device", "user", "conv", "from", "expect")
        from_seq = self.names.seq(step["from"], step["conv"]) if "from" in step else None
        body = {} if from_seq is None else {"from_seq": from_seq}
        if "device" in step:
            commands = self.scene.device(step["device"]).client.commands
            await self._status(step, commands.mark(self.names.id(step["conv"]), from_seq, read_epoch=None))
        else:
            await self._http(step, "POST", f"{self._conversation(step)}/mark", body)

    async def mute(self, step: Step) -> None:
        await self._prefs(step, muted=True)

    async def unmute(self, step: Step) -> None:
        await self._prefs(step, muted=False)

    async def hide(self, step: Step) -> None:
        await self._prefs(step, hidden=True)

    async def unhide(self, step: Step) -> None:
        await self._prefs(step, hidden=False)

    async def clear(self, step: Step) -> None:
        only(step, "device", "user", "conv", "upTo", "expect")
        up_to = self.names.seq(step["upTo"], step["conv"]) if "upTo" in step else None
        if "device" in step:
            commands = self.scene.device(step["device"]).client.commands
            await self._status(step, commands.clear(self.names.id(step["conv"]), up_to))
        else:
            query = "" if up_to is None else f"?up_to_seq={up_to}"
            await self._http(step, "DELETE", f"{self._conversation(step)}{query}")

    async def readAll(self, step: Step) -> None:
        only(step, "device", "user")
        if "device" in step:
            await self._answer(self.scene.device(step["device"]).client.commands.read_all(), "read_all")
        else:
            await self._http(step, "POST", "read_all", {})

    async def _prefs(self, step: Step, **flags: bool) -> None:
        only(step, "device", "user", "conv", "expect")
        if "device" in step:
            commands = self.scene.device(step["device"]).client.commands
            await self._status(step, commands.prefs(self.names.id(step["conv"]), **flags))
        else:
            await self._http(step, "PUT", f"{self._conversation(step)}/prefs", flags)

    async def _status(self, step: Step, answer: Any) -> None:
        acked = await self._answer(answer, step["do"])
        status = acked["items"][0]["status"]
        wanted = several(step.get("expect", ["applied", "stale", "clamped"]))
        if status not in wanted:
            raise Violation(f"{step['do']} of {step['conv']}: status", wanted, status)

    async def _answer(self, answer: Any, what: str) -> Any:
        try:
            return await asyncio.wait_for(answer, self.scene.setting.timeout_s)
        except TimeoutError:
            raise Violation(f"{what} is not answered") from None
        except Refused as refused:
            raise Violation(f"{what} is refused: {refused}") from None

    def _judge(self, wanted: list[Step], items: list[Step]) -> None:
        if len(wanted) != len(items):
            raise Violation("items of the answer", len(wanted), items)
        for want, item in zip(wanted, items, strict=True):
            statuses = several(want.get("expect", item["status"]))
            if item["status"] not in statuses:
                raise Violation(f"ack of {want['conv']}: status", statuses, item)
            if "unread" in want and item["unread"] != want["unread"]:
                raise Violation(f"ack of {want['conv']}: unread", want["unread"], item)
            if "read" in want and item["read_seq"] != self.names.seq(want["read"], want["conv"]):
                raise Violation(f"ack of {want['conv']}: read_seq", want["read"], item)

    def _conversation(self, step: Step) -> str:
        return f"conversations/{quote(self.names.id(step['conv']), safe='')}"

    async def _http(self, step: Step, method: str, path: str, body: Any = None) -> Any:
        if "expect" in step and method != "POST":
            raise NotSupported(f"{step['do']}: expect by HTTP")
        user = quote(self.names.user(step["user"]), safe="")
        return await self.scene.server.call(method, f"/v1/users/{user}/{path}", body)
