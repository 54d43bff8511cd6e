import hashlib
import unittest

from tidemark_client.digest import canonical, digest_of, digest_text, row_digest
from tidemark_client.row_set import RowSet

from .vectors import vectors


class Digest(unittest.TestCase):
    """vectors/digest.v1.json"""

    def test_rows(self) -> None:
        for vector in vectors("digest.v1.json")["rows"]:
            with self.subTest(vector["name"]):
                self.assertEqual(canonical(vector["row"]), vector["canonical"])
                self.assertEqual(hashlib.sha1(canonical(vector["row"]).encode()).hexdigest(), vector["sha1"])
                self.assertEqual(digest_text(row_digest(vector["row"])), vector["digest"])

    def test_sets(self) -> None:
        for vector in vectors("digest.v1.json")["sets"]:
            with self.subTest(vector["name"]):
                rows = vector["rows"] if "rows" in vector else _generated()
                self.assertEqual(digest_text(digest_of(rows)), vector["digest"])

    def test_row_by_row_it_comes_to_the_same(self) -> None:
        before = RowSet().with_rows(_generated())
        rows = [{**row, "version": 2, "unread": row["unread"] + 1} for row in _generated()[:100]]
        self.assertEqual(before.with_rows(rows).digest, digest_of([*rows, *_generated()[100:]]))


def _generated() -> list[dict]:
    """The generator that the vector describes."""
    return [
        {
            "conv": f"conv-{i}",
            "version": 1,
            "unread": i % 7,
            "mentions": 0 if i % 3 == 0 else min(1, i % 7),
            "read_epoch": 0,
            "read_seq": i,
            "head_seq": i + 7,
            "muted": i % 5 == 0,
        }
        for i in range(1000)
    ]
