"""Steps that a message service does: conversations, members, messages."""

import time
from typing import Any

from .scene import Scene
from .violation import NotSupported, Violation

Step = dict[str, Any]


def only(step: Step, *keys: str) -> None:
    """A key that is not known must not be passed over in silence."""
    unknown = step.keys() - {"do", *keys}
    if unknown:
        raise NotSupported(f"{step['do']}: {', '.join(sorted(unknown))}")


def several(value: Any) -> list[Any]:
    """A scenario may write one value for a list of one."""
    return value if isinstance(value, list) else [value]


class EventSteps:
    def __init__(self, scene: Scene):
        self.scene, self.names = scene, scene.names
        self._sent_by_tag: dict[str, list[Step]] = {}
        self._unnamed = 0

    async def create(self, step: Step) -> None:
        only(step, "conv", "members")
        members = self.names.all(step["members"])
        await self._send(step, {"type": "conversation.created", "members": members})

    async def join(self, step: Step) -> None:
        only(step, "conv", "users", "tag", "eventId")
        await self._send(step, {"type": "member.joined", "users": self.names.all(step["users"])})

    async def leave(self, step: Step) -> None:
        only(step, "conv", "users", "tag", "eventId")
        await self._send(step, {"type": "member.left", "users": self.names.all(step["users"])})

    async def dissolve(self, step: Step) -> None:
        only(step, "conv", "tag", "eventId")
        await self._send(step, {"type": "conversation.dissolved"})

    async def purge(self, step: Step) -> None:
        only(step, "conv", "upTo", "tag", "eventId")
        await self._send(step, {"type": "conversation.purged", "up_to_seq": self.names.seq(step["upTo"], step["conv"])})

    async def recall(self, step: Step) -> None:
        only(step, "conv", "msg", "seq", "tag", "eventId")
        await self._send(step, {"type": "message.recalled", **self._which(step)})

    async def edit(self, step: Step) -> None:
        only(step, "conv", "msg", "seq", "mention", "all", "countable", "tag", "eventId")
        event: Step = {"type": "message.edited", **self._which(step)}
        if "mention" in step:
            event |= {"mentions": self.names.all(step["mention"]), "mention_all": step.get("all", False)}
        elif "all" in step:
            event["mention_all"] = step["all"]
        if "countable" in step:
            event["countable"] = step["countable"]
        await self._send(step, event)

    async def post(self, step: Step) -> None:
        only(
            step,
            "conv",
            "from",
            "as",
            "n",
            "mention",
            "all",
            "system",
            "senderRead",
            "seq",
            "members",
            "batch",
            "sentAt",
        )
        events, labels = [], []
        for number in range(1, step.get("n", 1) + 1):
            labels.append(self._label(step, number))
            events.append(self._message(step, labels[-1], number))
        results = await self.scene.server.events(events)
        seqs = [result["seq"] for result in results]
        for label, event, result in zip(labels, events, results, strict=True):
            if result["duplicate"] or event.get("seq", result["seq"]) != result["seq"]:
                raise Violation(f"answer to the new message {label}", event, result)
            self.names.learn(label, step["conv"], event, result["seq"])
        if seqs != sorted(set(seqs)):
            raise Violation("seqs of a batch", "rising", seqs)

    async def duplicate(self, step: Step) -> None:
        only(step, "of")
        for label in several(step["of"]):
            if label in self._sent_by_tag:
                await self.scene.server.events(self._sent_by_tag[label])
                continue
            event = dict(self.names.posted[label])
            seq = event.pop("seq")
            (result,) = await self.scene.server.events([event])
            if result["seq"] != seq or result["duplicate"] is not True:
                raise Violation(f"{label} again", f"seq {seq}, duplicate", result)

    def _label(self, step: Step, number: int) -> str:
        if "as" in step:
            return f"{step['as']}{number}" if step.get("n", 1) > 1 else step["as"]
        self._unnamed += 1
        return f"_{self._unnamed}"

    def _message(self, step: Step, label: str, number: int) -> Step:
        event: Step = {
            "type": "message.created",
            "conv": self.names.id(step["conv"]),
            "message_id": self.names.id(label),
            "sender": self.names.id(step["from"]),
        }
        if "seq" in step:
            event["seq"] = self.names.seq(step["seq"], step["conv"]) + number - 1
        if "sentAt" in step:
            event["sent_at"] = int(time.time() * 1000) + step["sentAt"]
        for key, name in (("mention", "mentions"), ("members", "members")):
            if key in step:
                event[name] = self.names.all(step[key])
        for key, name, value in (
            ("system", "countable", False),
            ("all", "mention_all", True),
            ("senderRead", "sender_read", True),
        ):
            if step.get(key):
                event[name] = value
        return event

    def _which(self, step: Step) -> Step:
        if "msg" in step:
            return {"message_id": self.names.id(step["msg"])}
        return {"seq": self.names.seq(step["seq"], step["conv"])}

    async def _send(self, step: Step, event: Step) -> None:
        event = {**event, "conv": self.names.id(step["conv"])}
        if "eventId" in step:
            event["event_id"] = self.names.id(step["eventId"])
        if "tag" in step:
            self._sent_by_tag[step["tag"]] = [event]
        await self.scene.server.events([event])
