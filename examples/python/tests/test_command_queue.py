import unittest

from tidemark_client.command_queue import Command, CommandQueue
from tidemark_client.overlay import overlaid
from tidemark_client.row_set import RowSet

from .test_reducer import row


def ack(conv: str, seq: int, read_epoch: int = 0) -> Command:
    return Command("ack", conv, {"seq": seq, "read_epoch": read_epoch}, tickets=[seq])


class Merging(unittest.TestCase):
    def test_acks_of_a_conversation_become_the_highest(self) -> None:
        queue = CommandQueue()
        for command in (ack("a", 3), ack("b", 1), ack("a", 9), ack("a", 5)):
            queue.add(command)
        (frame,) = queue.frames()
        self.assertEqual(
            frame["items"],
            [{"conv": "a", "seq": 9, "read_epoch": 0}, {"conv": "b", "seq": 1, "read_epoch": 0}],
        )
        self.assertEqual([command.tickets for command in queue.answered(frame["id"])], [[3, 9, 5], [1]])
        self.assertEqual(queue.answered(frame["id"]), [])

    def test_not_across_read_epochs_nor_across_another_command(self) -> None:
        queue = CommandQueue()
        mark = Command("mark", "a", {"from_seq": 2, "read_epoch": 0})
        for command in (ack("a", 3), ack("a", 4, read_epoch=1), mark, ack("a", 5)):
            queue.add(command)
        kinds = [(frame["t"], len(frame.get("items", "-"))) for frame in queue.frames()]
        self.assertEqual(kinds, [("ack", 2), ("mark", 1), ("ack", 1)])

    def test_not_across_read_all(self) -> None:
        queue = CommandQueue()
        for command in (ack("a", 3), Command("read_all", None, {"sync_version": 4}), ack("a", 5)):
            queue.add(command)
        self.assertEqual([frame["t"] for frame in queue.frames()], ["ack", "read_all", "ack"])

    def test_a_message_id_stands_alone(self) -> None:
        queue = CommandQueue()
        for message in ("m1", "m2"):
            queue.add(Command("ack", "a", {"message_id": message}))
        (frame,) = queue.frames()
        self.assertEqual(len(frame["items"]), 2)

    def test_preferences_keep_what_the_later_one_does_not_name(self) -> None:
        queue = CommandQueue()
        for flags in ({"muted": True}, {"hidden": True}, {"muted": False}):
            queue.add(Command("prefs", "a", flags))
        (frame,) = queue.frames()
        self.assertEqual(frame, {"t": "prefs", "id": 1, "conv": "a", "muted": False, "hidden": True})

    def test_two_hundred_acks_to_a_frame(self) -> None:
        queue = CommandQueue()
        for number in range(450):
            queue.add(ack(f"c{number}", 1))
        self.assertEqual([len(frame["items"]) for frame in queue.frames()], [200, 200, 50])


class SendingAgain(unittest.TestCase):
    def test_after_a_lost_socket_merged_in_order_with_rising_ids(self) -> None:
        queue = CommandQueue()
        queue.add(ack("a", 3))
        (first,) = queue.frames()
        queue.add(ack("a", 7))
        queue.send_all_again()
        (again,) = queue.frames()
        self.assertGreater(again["id"], first["id"])
        self.assertEqual(again["items"], [{"conv": "a", "seq": 7, "read_epoch": 0}])

    def test_refused_for_the_moment_before_what_came_since(self) -> None:
        queue = CommandQueue()
        queue.add(Command("clear", "a", {"up_to_seq": 3}))
        (frame,) = queue.frames()
        queue.add(Command("prefs", "a", {"muted": True}))
        queue.put_back(frame["id"])
        self.assertEqual([each["t"] for each in queue.frames()], ["clear", "prefs"])


class Overlay(unittest.TestCase):
    ROWS = RowSet().with_rows([row("a", 1, 3), row("b", 2, 4)])

    def _unread(self, *commands: Command) -> dict[str, int]:
        return {conv: each["unread"] for conv, each in overlaid(self.ROWS, commands).listed().items()}

    def test_a_row_read_to_its_end_is_read(self) -> None:
        self.assertEqual(self._unread(ack("a", 8)), {"a": 0, "b": 4})
        self.assertEqual(overlaid(self.ROWS, [ack("a", 8)]).total, 4)

    def test_a_part_is_not_counted(self) -> None:
        self.assertEqual(self._unread(ack("a", 7)), {"a": 3, "b": 4})

    def test_an_ack_of_another_read_epoch_shows_nothing(self) -> None:
        self.assertEqual(self._unread(ack("a", 8, read_epoch=1)), {"a": 3, "b": 4})

    def test_flags_and_rows_that_go(self) -> None:
        self.assertEqual(overlaid(self.ROWS, [Command("prefs", "a", {"muted": True})]).badge, 4)
        self.assertEqual(overlaid(self.ROWS, [Command("mark", "b", {})]).rows["b"]["marked"], True)
        self.assertEqual(self._unread(Command("clear", "a", {"up_to_seq": 8})), {"b": 4})
        self.assertEqual(self._unread(Command("clear", "a", {"up_to_seq": 7})), {"a": 3, "b": 4})
        self.assertEqual(self._unread(Command("prefs", "b", {"hidden": True})), {"a": 3})

    def test_read_all_leaves_what_has_changed_since(self) -> None:
        self.assertEqual(self._unread(Command("read_all", None, {"sync_version": 1})), {"a": 0, "b": 4})
