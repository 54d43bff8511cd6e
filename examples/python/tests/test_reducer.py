import unittest
from dataclasses import replace
from typing import Any

from tidemark_client.device_state import DeviceState, Held, Pages
from tidemark_client.reducer import asking, foreground, received, reconnecting, unreadable
from tidemark_client.row_set import RowSet

EPOCH = "k3Vq9xTz"


def row(conv: str, version: int, unread: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "conv": conv,
        "version": version,
        "unread": unread,
        "mentions": 0,
        "read_seq": 5,
        "read_epoch": 0,
        "head_seq": 5 + unread,
        **more,
    }


def with_sums(of: list[dict[str, Any]], /, **fields: Any) -> dict[str, Any]:
    """A frame with the sums of these rows."""
    return {"epoch": EPOCH, **fields, **RowSet().with_rows(of).sums()}


def holding(version: int, *rows: dict[str, Any]) -> DeviceState:
    return DeviceState(Held(EPOCH, version, RowSet().with_rows(rows)), greeted=True)


class Hidden(unittest.TestCase):
    def test_a_hidden_row_is_held_and_adds_nothing(self) -> None:
        rows = [row("a", 2, 3, hidden=True)]
        taken = received(holding(1), with_sums(rows, t="delta", base_version=1, sync_version=2, rows=rows))
        self.assertIsNone(taken.asks)
        self.assertEqual(taken.state.held.rows.total, 0)
        self.assertIn("a", taken.state.held.rows.rows)
        self.assertEqual(taken.state.held.rows.listed(), {})


class Greeting(unittest.TestCase):
    def test_nothing_is_taken_before_welcome(self) -> None:
        rows = [row("a", 2, 3)]
        state, _ = reconnecting(holding(1))
        for frame in (
            with_sums(rows, t="delta", base_version=1, sync_version=2, rows=rows),
            with_sums(rows, t="hb", sync_version=9),
        ):
            self.assertEqual(received(state, frame).state, state)
        self.assertIsNone(foreground(state).asks)
        self.assertIsNone(unreadable(state).asks)


class Wishes(unittest.TestCase):
    def test_one_at_a_time(self) -> None:
        asked = foreground(holding(1))
        self.assertEqual(asked.asks, "foreground")
        self.assertIsNone(foreground(asked.state).asks)
        self.assertIsNone(unreadable(asking(asked.state)[0]).asks)

    def test_each_counts_until_the_sums_are_equal(self) -> None:
        state = holding(1, row("a", 1, 2))
        for count in (1, 2, 3):
            state, _ = asking(foreground(state).state)
            self.assertEqual(state.fruitless, count)
            state = replace(state, wish=None)
        equal = received(state, with_sums([row("a", 1, 2)], t="hb", sync_version=1))
        self.assertEqual(equal.state.fruitless, 0)

    def test_one_that_was_not_sent_ends_when_the_sums_are_equal(self) -> None:
        state = unreadable(holding(1)).state
        self.assertIsNone(received(state, with_sums([], t="hb", sync_version=1)).state.wish)

    def test_one_that_is_refused_for_the_moment_comes_up_again(self) -> None:
        state, _ = asking(foreground(holding(1)).state)
        error = {"t": "error", "message": "no"}
        self.assertEqual(received(state, {**error, "code": "rate_limited", "retry_ms": 9}).asks, "refused")
        self.assertIsNone(received(state, {**error, "code": "unavailable", "id": 4}).asks)
        self.assertIsNone(received(state, {**error, "code": "invalid_field"}).asks)

    def test_an_answer_that_does_not_come_is_asked_for_again(self) -> None:
        state, _ = asking(foreground(holding(1)).state)
        beat = with_sums([], t="hb", sync_version=1)
        asks = []
        for _ in range(3):
            taken = received(state, beat)
            state = taken.state
            asks.append(taken.asks)
        self.assertEqual(asks, [None, None, "stalled"])


class Epochs(unittest.TestCase):
    def test_frames_of_another_epoch_are_not_taken(self) -> None:
        state = holding(1, row("a", 1, 2))
        for frame in (
            {**with_sums([], t="delta", base_version=1, sync_version=2, rows=[]), "epoch": "other"},
            {**with_sums([], t="hb", sync_version=1), "epoch": "other"},
            {**with_sums([], t="synced", sync_version=1, mode="noop"), "epoch": "other"},
        ):
            taken = received(state, frame)
            self.assertEqual(taken.asks, "epoch")
            self.assertEqual(taken.state.held, state.held)


class PagesAndDeltas(unittest.TestCase):
    def _announced(self, version: int = 3) -> DeviceState:
        state, _ = reconnecting(DeviceState())
        frame = with_sums([], t="welcome", sync_version=version, mode="snapshot", reason="first")
        return received(state, frame).state

    def _page(self, number: int, rows: list[dict[str, Any]], end: bool) -> dict[str, Any]:
        more = {} if end else {"next": f"p{number + 1}"}
        return with_sums([], t="snapshot", sync_version=3, page=number, rows=rows, end=end, **more)

    def test_a_delta_before_page_1_outlives_it(self) -> None:
        rows = [row("a", 4, 7)]
        state = received(self._announced(), with_sums(rows, t="delta", base_version=3, sync_version=4, rows=rows)).state
        state = received(state, self._page(1, [row("a", 1, 1), row("b", 2, 2)], end=True)).state
        self.assertEqual({conv: each["unread"] for conv, each in state.held.rows.rows.items()}, {"a": 7, "b": 2})
        self.assertEqual(state.held.version, 4)

    def test_the_sums_of_the_last_delta_have_to_be_met(self) -> None:
        rows = [row("a", 4, 7)]
        for said, asks in ((rows, None), ([row("a", 4, 8)], "mismatch")):
            delta = with_sums(said, t="delta", base_version=3, sync_version=4, rows=rows)
            state = received(self._announced(), delta).state
            self.assertEqual(received(state, self._page(1, [], end=True)).asks, asks)

    def test_page_1_forgets_the_pages_before_it(self) -> None:
        state = received(self._announced(), self._page(1, [row("x", 1, 1)], end=False)).state
        state = received(state, self._page(1, [row("a", 1, 1)], end=True)).state
        self.assertEqual(list(state.held.rows.rows), ["a"])

    def test_a_page_too_far_is_a_gap(self) -> None:
        self.assertEqual(received(self._announced(), self._page(2, [], end=True)).asks, "gap")

    def test_pages_of_an_answer_that_was_replaced_change_nothing(self) -> None:
        state = holding(3, row("a", 1, 1))
        self.assertEqual(received(state, self._page(2, [row("b", 1, 1)], end=True)).state, state)
        other = replace(state, work=Pages("other", 3, 3))
        self.assertEqual(received(other, self._page(1, [row("b", 1, 1)], end=True)).state, other)

    def test_a_shown_list_stays_and_is_named_with_the_page(self) -> None:
        held = holding(2, row("a", 1, 1))
        frame = with_sums([], t="synced", sync_version=3, mode="snapshot", reason="floor")
        state = received(received(held, frame).state, self._page(1, [row("b", 3, 1)], end=False)).state
        _, fields = reconnecting(state)
        self.assertEqual(fields["page"], "p2")
        self.assertEqual(fields["cursor"], {"epoch": EPOCH, "sync_version": 2})
        self.assertEqual(fields["digest"], held.held.rows.sums()["digest"])


class CatchUps(unittest.TestCase):
    def test_a_heartbeat_beyond_its_end_tells_of_a_lost_push(self) -> None:
        state = received(holding(1), with_sums([], t="synced", sync_version=9, mode="delta")).state
        for version, asks in ((9, None), (10, "behind")):
            self.assertEqual(received(state, with_sums([], t="hb", sync_version=version)).asks, asks)

    def test_a_frame_that_begins_too_high_is_a_gap(self) -> None:
        frame = with_sums([], t="synced", sync_version=9, mode="delta")
        state = received(holding(1), frame).state
        delta = with_sums([], t="delta", base_version=2, sync_version=9, rows=[])
        self.assertEqual(received(state, delta).asks, "gap")

    def test_noop_at_what_was_reached_ends_it(self) -> None:
        rows = [row("a", 2, 3)]
        state = received(holding(1), with_sums(rows, t="synced", sync_version=9, mode="delta")).state
        state = received(state, with_sums(rows, t="delta", base_version=1, sync_version=2, rows=rows)).state
        self.assertEqual(state.held.version, 1)
        state = received(state, with_sums(rows, t="synced", sync_version=2, mode="noop")).state
        self.assertEqual((state.held.version, state.held.rows.total, state.due), (2, 3, None))
