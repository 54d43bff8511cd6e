"""What the steps of one scenario share: names, devices, the server and the ledger."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .judged_device import JudgedDevice
from .ledger import Ledger
from .names import Names
from .server_api import ServerApi
from .setting import Setting
from .violation import Violation
from .waiting import until


@dataclass
class Scene:
    names: Names
    setting: Setting
    ledger: Ledger = field(default_factory=Ledger)
    devices: dict[str, JudgedDevice] = field(default_factory=dict)

    def device(self, name: str) -> JudgedDevice:
        if name not in self.devices:
            user = self.names.user(name.split(".")[0])
            self.devices[name] = JudgedDevice(name, user, self.setting, self.ledger)
        return self.devices[name]

    @property
    def server(self) -> ServerApi:
        return self.setting.server

    def on(self, where: Any) -> list[JudgedDevice]:
        """Devices by name; `u1.*` and no name mean those that are open, of which there has to be one."""
        if isinstance(where, list):
            return [device for each in where for device in self.on(each)]
        if where is not None and not where.endswith(".*"):
            return [self.device(where)]
        start = "" if where is None else where.removesuffix("*")
        found = [device for device in self.devices.values() if device.is_open and device.name.startswith(start)]
        if not found:
            raise Violation(f"no open device of {where or 'anyone'}")
        return found

    async def until(self, is_true: Callable[[], bool], what: Callable[[], str]) -> None:
        """Waits for the condition; whatever breaks a rule meanwhile ends the wait."""
        came = await until(lambda: bool(self.ledger.broken) or is_true(), self.setting.timeout_s)
        self.ledger.check()
        if not came:
            raise Violation(what())

    async def settle(self) -> None:
        """Until every open device stands where the server stands."""
        for user in sorted(self.names.users):
            devices = [each for each in self.devices.values() if each.user == self.names.id(user) and each.is_open]
            there = await self.server.unread(self.names.id(user))
            for device in devices:
                await self.until(
                    lambda: device.is_complete and device.held.version >= there["sync_version"],
                    lambda: f"{device.name} did not reach version {there['sync_version']}: {device.state.held}",
                )
