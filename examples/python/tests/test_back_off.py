import unittest

from tidemark_client.back_off import ceiling_s, reconnect_delay_s, sync_delay_s
from tidemark_client.close_codes import after_close


class BackOff(unittest.TestCase):
    def test_the_ceiling_doubles_from_1_to_30_seconds(self) -> None:
        self.assertEqual([ceiling_s(failures) for failures in range(1, 9)], [1, 2, 4, 8, 16, 30, 30, 30])
        self.assertEqual(ceiling_s(10_000), 30)

    def test_full_jitter_between_half_a_second_and_the_ceiling(self) -> None:
        self.assertEqual([reconnect_delay_s(4, chance) for chance in (0, 0.5, 1)], [0.5, 4.25, 8])

    def test_the_first_sync_at_once_then_1_to_60_seconds(self) -> None:
        self.assertEqual([sync_delay_s(fruitless) for fruitless in range(9)], [0, 1, 2, 4, 8, 16, 32, 60, 60])


class CloseCodes(unittest.TestCase):
    def test_the_range_decides(self) -> None:
        for codes, todo in (
            ((4000, 4001, 4077), "come_back"),
            ((4100, 4101, 4102, 4103, 4199), "back_off"),
            ((4200, 4299), "new_token"),
            ((4400, 4401, 4402, 4403, 4404, 4405, 4499), "stay_away"),
            ((1000, 1001, 1006, 1011, 3000, 4300, 4999), "back_off"),
        ):
            self.assertEqual({after_close(code) for code in codes}, {todo})
