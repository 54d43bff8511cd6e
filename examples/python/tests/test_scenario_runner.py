import unittest

from scenario_runner.bent import bent
from scenario_runner.expectation import mismatch
from scenario_runner.ledger import Ledger
from scenario_runner.lies import ROW_LIES, RowTeller
from scenario_runner.names import Names
from scenario_runner.violation import NotSupported, Violation
from tidemark_client.device_state import DeviceState
from tidemark_client.row_set import RowSet

from .test_reducer import holding, row, with_sums


class NamesTest(unittest.TestCase):
    def test_ids_have_a_prefix_of_the_run(self) -> None:
        self.assertNotEqual(Names().id("u1"), Names().id("u1"))
        self.assertEqual(Names(prefix="p-").all("u9..u11"), ["p-u9", "p-u10", "p-u11"])
        with self.assertRaises(NotSupported):
            Names({"c1": {"big": 1}}).id("c1")

    def test_seqs(self) -> None:
        names = Names()
        names.learn("m4", "c1", {}, 40)
        names.learn("m1", "c1", {}, 10)
        places = ("m4", "m4+1", "m1-1", "head", "head+2", 7)
        self.assertEqual([names.seq(place, "c1") for place in places], [40, 41, 9, 40, 42, 7])


class Expectations(unittest.TestCase):
    def setUp(self) -> None:
        self.names = Names(prefix="")
        self.rows = RowSet().with_rows([row("c1", 1, 3), row("c2", 2, 1, hidden=True)])

    def _mismatch(self, **step: object) -> str | None:
        return mismatch(step, self.rows, self.rows.sums(), self.names)

    def test_what_is_there(self) -> None:
        shown = {"unread": 3, "read": 5, "head": 8, "muted": False}
        self.assertIsNone(self._mismatch(rows={"c1": shown, "c2": "gone", "c3": "gone"}, total=3, badge=3, count=1))

    def test_what_is_not(self) -> None:
        for step in (
            {"rows": {"c1": {"unread": 4}}},
            {"rows": {"c1": {"read": 6}}},
            {"rows": {"c1": {"muted": True}}},
            {"rows": {"c1": "gone"}},
            {"rows": {"c2": "listed"}},
            {"rows": {"c3": {"unread": 0}}},
            {"total": 4},
            {"badge": 4},
            {"mentions": 1},
            {"count": 2},
        ):
            with self.subTest(step):
                self.assertIsNotNone(self._mismatch(**step))

    def test_a_key_that_is_not_known_does_not_pass(self) -> None:
        with self.assertRaises(NotSupported):
            self._mismatch(colour="red")


class LedgerTest(unittest.TestCase):
    def _broken(self, *frames: dict, state: DeviceState = holding(1)) -> list[str]:
        ledger = Ledger()
        for frame in frames:
            ledger.frame("u1.A", "u1", state, frame)
        return ledger.broken

    def test_one_version_has_one_content(self) -> None:
        first = with_sums([row("a", 1, 3)], t="hb", sync_version=7)
        self.assertEqual(self._broken(first, first), [])
        self.assertIn("total", self._broken(first, {**first, "total": 4})[0])
        self.assertEqual(self._broken(first, {**first, "total": 4, "epoch": "other"}), [])

    def test_a_row_that_cannot_be(self) -> None:
        for wrong in (
            row("a", 1, 3, mentions=4),
            row("a", 1, 998, capped=True),
            row("a", 1, 3, read_seq=9),
        ):
            frame = with_sums([], t="delta", base_version=0, sync_version=1, op="message", rows=[wrong])
            self.assertEqual(len(self._broken(frame)), 1)

    def test_the_first_is_raised(self) -> None:
        ledger = Ledger()
        ledger.check()
        ledger.break_rule("one")
        with self.assertRaisesRegex(Violation, "one"):
            ledger.check()


class Lies(unittest.TestCase):
    def test_a_lie_about_rows_adds_up(self) -> None:
        tell = RowTeller(ROW_LIES["one unread too many"])
        rows = [row("a", 1, 3), row("b", 1, 0)]
        page = with_sums(rows, t="snapshot", sync_version=1, page=1, rows=rows, end=True)
        (told,) = tell(page)
        self.assertEqual([each["unread"] for each in told["rows"]], [4, 0])
        self.assertEqual({name: told[name] for name in RowSet().sums()}, RowSet().with_rows(told["rows"]).sums())
        (beat,) = tell(with_sums(rows, t="hb", sync_version=1))
        self.assertEqual(beat["total"], 4)

    def test_wrong_expectations_are_one_each(self) -> None:
        steps = [
            {"do": "ack", "expect": "applied"},
            {"do": "expect", "rows": {"c1": {"unread": 1, "read": "m1"}, "c2": "gone"}, "total": 1},
            {"do": "expectDeltas", "on": {"u1.A": 1}, "during": [{"do": "connect", "mode": "noop"}]},
        ]
        places = [place for place, _ in bent({"steps": steps})]
        self.assertEqual(
            sorted(places),
            sorted(
                [
                    "0.expect",
                    "1.total",
                    "1.rows.c1.unread",
                    "1.rows.c1.read",
                    "1.rows.c2",
                    "2.on.u1.A",
                    "2.during.0.mode",
                ]
            ),
        )
