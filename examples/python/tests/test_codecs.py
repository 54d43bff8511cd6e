import unittest
from typing import Any

from tidemark_client import json_codec, msgpack_codec
from tidemark_client.frames import FrameFault

from .vectors import vectors


class Messages(unittest.TestCase):
    """vectors/messages.v1.json: each frame as text, as bytes and as a value."""

    def test_there_are_frames_of_both_sides(self) -> None:
        kinds = {message["value"]["t"] for message in vectors("messages.v1.json")}
        self.assertEqual(len(kinds), 18)

    def test_json(self) -> None:
        for message in vectors("messages.v1.json"):
            with self.subTest(message["name"]):
                value = message["value"]
                self.assertEqual(json_codec.decode(message["json"], message["from"]), value)
                self.assertEqual(json_codec.decode(json_codec.encode(value), message["from"]), value)

    def test_msgpack_to_the_byte(self) -> None:
        for message in vectors("messages.v1.json"):
            with self.subTest(message["name"]):
                self.assertEqual(msgpack_codec.encode(message["value"]).hex(), message["msgpack"])
                data = bytes.fromhex(message["msgpack"])
                self.assertEqual(msgpack_codec.decode(data, message["from"]), message["value"])

    def test_what_is_cut_short_is_no_frame(self) -> None:
        for message in vectors("messages.v1.json"):
            data = bytes.fromhex(message["msgpack"])
            for end in range(len(data)):
                with self.assertRaises(FrameFault) as caught:
                    msgpack_codec.decode(data[:end], message["from"])
                self.assertTrue(caught.exception.fatal)


class Invalid(unittest.TestCase):
    """vectors/invalid.v1.json: what has to be refused, and how."""

    def test_each_is_refused_as_it_says(self) -> None:
        for vector in vectors("invalid.v1.json"):
            with self.subTest(vector["name"]), self.assertRaises(FrameFault) as caught:
                _decode(vector)
            with self.subTest(vector["name"]):
                fault = caught.exception
                said = {"code": fault.code, "field": fault.field, "id": fault.id}
                known = {name: value for name, value in said.items() if value is not None}
                self.assertEqual({"fatal": fault.fatal, **known}, vector["error"])


class Forward(unittest.TestCase):
    """Keys and elements of a later version are passed over, values are not."""

    def test_unknown_keys(self) -> None:
        text = '{"t":"auth_ok","expires_at":5,"colour":{"deep":[1]}}'
        self.assertEqual(json_codec.decode(text), {"t": "auth_ok", "expires_at": 5})

    def test_unknown_elements_of_any_type_and_depth(self) -> None:
        # auth_ok, 5, then a float, a map and an array of arrays.
        deep = b"\x91" * 2000 + b"\xc0"
        data = b"\x95\x16\x05\xca\x00\x00\x00\x00\x81\xa1a\x01" + deep
        self.assertEqual(msgpack_codec.decode(data), {"t": "auth_ok", "expires_at": 5})

    def test_unknown_flag_bits(self) -> None:
        row = "97a263310a00000000d1"[0:-2] + "e1"
        delta = bytes.fromhex("9720a8" + b"k3Vq9xTz".hex() + "280191" + row + "c4060a1b2c3d4e5f00")
        with self.assertRaises(FrameFault) as negative:
            msgpack_codec.decode(delta)
        self.assertEqual(negative.exception.code, "invalid_field")
        known = delta.replace(bytes.fromhex("000000e1"), bytes.fromhex("00000021"))
        self.assertEqual(msgpack_codec.decode(known)["rows"][0]["muted"], True)

    def test_a_delta_with_an_op_of_later_versions_is_no_frame_to_pass_over(self) -> None:
        delta = bytes.fromhex("9729a8" + b"k3Vq9xTz".hex() + "280190c4060a1b2c3d4e5f00")
        self.assertEqual(msgpack_codec.decode(delta)["op"], "merged")
        with self.assertRaises(FrameFault) as caught:
            msgpack_codec.decode(b"\x97\x2a" + delta[2:])
        self.assertEqual((caught.exception.code, caught.exception.field), ("invalid_field", "op"))

    def test_unknown_values(self) -> None:
        for text in (
            '{"t":"bye","code":"4000","reason":"x"}',
            '{"t":"synced","epoch":"e","sync_version":1,"mode":"guess","total":0,"badge":0,"mentions":0,'
            '"digest":"000000000000","expires_at":1}',
        ):
            with self.assertRaises(FrameFault) as caught:
                json_codec.decode(text)
            self.assertEqual(caught.exception.code, "invalid_field")


class Hostile(unittest.TestCase):
    def test_json_that_python_would_read_and_javascript_would_not(self) -> None:
        for text in ('{"t":"auth_ok","expires_at":NaN}', "[" * 100_000, '{"t":"auth_ok","expires_at":' + "1" * 5000):
            with self.assertRaises(FrameFault) as caught:
                json_codec.decode(text)
            self.assertTrue(caught.exception.fatal)

    def test_a_number_of_five_thousand_digits_is_a_bad_field(self) -> None:
        with self.assertRaises(FrameFault) as caught:
            json_codec.decode('{"t":"auth_ok","expires_at":' + "1" * 5000 + "}")
        self.assertEqual((caught.exception.code, caught.exception.field), ("invalid_field", "expires_at"))

    def test_the_wrong_kind_of_message(self) -> None:
        for codec, message in ((json_codec, b'{"t":"ping"}'), (msgpack_codec, '{"t":"ping"}')):
            with self.assertRaises(FrameFault) as caught:
                codec.decode(message)
            self.assertTrue(caught.exception.fatal)


def _decode(vector: dict[str, Any]) -> Any:
    if "text" in vector:
        return json_codec.decode(vector["text"], vector["from"])
    return msgpack_codec.decode(bytes.fromhex(vector["hex"]), vector["from"])
