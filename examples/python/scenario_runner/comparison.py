"""Devices against the pull of the message service, row by row."""

from typing import Any

from tidemark_client.device_state import Held
from tidemark_client.row_set import RowSet

from .judged_device import JudgedDevice
from .scene import Scene
from .violation import Violation


async def compare_now(scene: Scene, device: JudgedDevice) -> None:
    """What the device holds against the server's present state: never ahead, and the same at the same version."""
    held = device.state.held
    answer = await scene.server.unread(device.user)
    if held is None or held.epoch != answer["epoch"]:
        return
    if held.version > answer["sync_version"]:
        raise Violation(f"{device.name} is ahead of the server", answer["sync_version"], held.version)
    if held.version == answer["sync_version"]:
        _same(device.name, held, answer)


async def compare_all(scene: Scene) -> None:
    """At the end: every open device has its answers and holds what GET unread says, and reconcile finds nothing."""
    await scene.settle()
    for name in sorted(scene.names.users):
        user = scene.names.id(name)
        devices = [device for device in scene.devices.values() if device.user == user and device.is_open]
        for device in devices:
            queue = device.client.commands.queue
            await scene.until(lambda: not queue.not_answered(), lambda: f"{device.name}: {queue.not_answered()}")
        answer = await scene.server.unread(user)
        if any(answer[sum_name] != value for sum_name, value in _rows(answer).sums().items()):
            raise Violation(f"GET unread of {name}: sums", _rows(answer).sums(), answer)
        scene.ledger.sums(f"GET unread of {name}", user, answer["epoch"], answer)
        for row in answer["rows"]:
            scene.ledger.row(f"GET unread of {name}", user, answer["epoch"], row)
        for device in devices:
            held = device.held
            if (held.epoch, held.version) != (answer["epoch"], answer["sync_version"]):
                raise Violation(f"{device.name}: cursor", answer["sync_version"], held.version)
            _same(device.name, held, answer)
    scene.ledger.check()
    users = sorted(scene.names.id(name) for name in scene.names.users)
    reconciled = await scene.server.call("POST", "/v1/reconcile", {"users": users, "repair": False})
    if reconciled["wrong"] != 0:
        raise Violation("reconcile", "nothing wrong", reconciled)


def _same(name: str, held: Held, answer: dict[str, Any]) -> None:
    rows = _rows(answer)
    if held.rows.sums() != rows.sums():
        raise Violation(f"{name}: sums", rows.sums(), held.rows.sums())
    ours = {conv: row["version"] for conv, row in held.rows.listed().items()}
    theirs = {conv: row["version"] for conv, row in rows.listed().items()}
    if ours != theirs:
        raise Violation(f"{name}: rows and their versions", theirs, ours)


def _rows(answer: dict[str, Any]) -> RowSet:
    return RowSet().exchanged(answer["rows"])
