import unittest

from tidemark_client.msgpack_bytes import FOREIGN, NotMessagePack, pack, unpack


class Integers(unittest.TestCase):
    def test_the_shortest_form_is_written(self) -> None:
        for value, data in (
            (0, "00"),
            (127, "7f"),
            (128, "cc80"),
            (255, "ccff"),
            (256, "cd0100"),
            (65535, "cdffff"),
            (65536, "ce00010000"),
            (2**32 - 1, "ceffffffff"),
            (2**32, "cf0000000100000000"),
            (2**53 - 1, "cf001fffffffffffff"),
            (-1, "ff"),
            (-32, "e0"),
            (-33, "d0df"),
            (-128, "d080"),
            (-129, "d1ff7f"),
            (-32769, "d2ffff7fff"),
            (-(2**31) - 1, "d3ffffffff7fffffff"),
        ):
            with self.subTest(value):
                self.assertEqual(pack(value).hex(), data)
                self.assertEqual(unpack(bytes.fromhex(data)), value)

    def test_a_longer_form_is_read(self) -> None:
        for data in ("cc05", "cd0005", "ce00000005", "cf0000000000000005", "d005", "d30000000000000005"):
            self.assertEqual(unpack(bytes.fromhex(data)), 5)


class Lengths(unittest.TestCase):
    def test_texts_binaries_and_arrays_of_every_size(self) -> None:
        for size in (0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536):
            for value in ("x" * size, b"x" * size, [1] * size):
                self.assertEqual(unpack(pack(value)), value)

    def test_a_length_beyond_the_end_is_refused_before_anything_is_made(self) -> None:
        for data in ("ddffffffff", "dcffff", "dbffffffff", "c6ffffffff", "dfffffffff", "9f", "8f", "c9ffffffff00"):
            with self.assertRaises(NotMessagePack):
                unpack(bytes.fromhex(data))


class Foreign(unittest.TestCase):
    def test_types_that_no_field_has(self) -> None:
        for data in (
            "ca00000000",
            "cb0000000000000000",
            "80",
            "81a16101",
            "d40000",
            "d8" + "00" * 17,
            "c7020000ff",
            "a1ff",
        ):
            with self.subTest(data):
                self.assertIs(unpack(bytes.fromhex(data)), FOREIGN)

    def test_depth_costs_nothing(self) -> None:
        self.assertEqual(unpack(b"\x91" * 50_000 + b"\xc0"), [[[FOREIGN]]])
