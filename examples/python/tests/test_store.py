import tempfile
import unittest
from pathlib import Path

from tidemark_client.command_queue import Command
from tidemark_client.device_state import Held
from tidemark_client.row_set import RowSet
from tidemark_client.store import FileStore, Saved

from .test_reducer import EPOCH, row


class Files(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "state.json"

    def test_nothing_stored(self) -> None:
        self.assertEqual(FileStore(self.path).load(), Saved())

    def test_what_was_saved_comes_back_whole(self) -> None:
        held = Held(EPOCH, 4, RowSet().with_rows([row("a", 4, 2, muted=True)]), {"total": 2})
        commands = [Command("read_all", None, {"sync_version": 4}, heads={"a": [7, 0]})]
        FileStore(self.path).save(Saved(held, 9, commands))
        self.assertEqual(FileStore(self.path).load(), Saved(held, 9, commands))
        self.assertEqual([path.name for path in self.path.parent.iterdir()], ["state.json"])

    def test_something_else_is_refused(self) -> None:
        for text in ("", "[]", '{"attempt": 1}'):
            self.path.write_text(text)
            with self.assertRaises((ValueError, KeyError, TypeError)):
                FileStore(self.path).load()
