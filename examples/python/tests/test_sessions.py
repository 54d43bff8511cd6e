import unittest
from typing import Any

from tidemark_client.device_state import DeviceState, Held
from tidemark_client.reducer import asking, received, reconnecting
from tidemark_client.row_set import RowSet

from .vectors import sessions


class Sessions(unittest.TestCase):
    """vectors/sessions/: a device through frames, and after each step what it shows and what it asks for."""

    def test_there_are_some(self) -> None:
        self.assertGreater(len(sessions()), 10)

    def test_each_step_of_each(self) -> None:
        for session in sessions():
            state = _started(session["start"])
            for place, step in enumerate(session["steps"], 1):
                with self.subTest(session["name"], step=place):
                    state, asks = self._step(state, step)
                    self.assertEqual({**_shown(state), **asks}, step["expect"])

    def _step(self, state: DeviceState, step: dict[str, Any]) -> tuple[DeviceState, dict[str, str]]:
        if "reconnect" in step:
            state, fields = reconnecting(state)
            self.assertEqual(fields, step["reconnect"])
            return state, {}
        if "sync" in step:
            state, frame = asking(state)
            self.assertEqual(frame, step["sync"])
            return state, {}
        taken = received(state, step["frame"])
        return taken.state, {} if taken.asks is None else {"asks": taken.asks}


def _started(start: dict[str, Any] | None) -> DeviceState:
    if start is None:
        return DeviceState()
    return DeviceState(Held(start["epoch"], start["sync_version"], RowSet().with_rows(start["rows"])))


def _shown(state: DeviceState) -> dict[str, Any]:
    held = state.held
    due = {} if state.due is None else {"due": state.due}
    if held is None:
        return {"sync_version": 0, "rows": {}, "total": 0, **due}
    rows = {conv: row["unread"] for conv, row in held.rows.listed().items()}
    return {"sync_version": held.version, "rows": rows, "total": held.sums()["total"], **due}
