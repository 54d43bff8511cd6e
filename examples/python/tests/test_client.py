import asyncio
import unittest
from collections.abc import Callable
from typing import Any

from tidemark_client import Client, MemoryStore, Refused, json_codec, msgpack_codec
from tidemark_client.connection import Connection
from tidemark_client.websocket import open_websocket

from .scripted_server import ROWS, Line, ScriptedServer
from .test_reducer import EPOCH

DEADLINE_S = 10


class ClientTest(unittest.IsolatedAsyncioTestCase):
    def client(self, server: ScriptedServer, **more: Any) -> Client:
        self.tokens: list[str] = []

        async def token() -> str:
            self.tokens.append(f"token-{len(self.tokens) + 1}")
            return self.tokens[-1]

        return Client(server.url, "phone", token, chance=lambda: 0.0, **more)

    async def until(self, is_true: Callable[[], bool]) -> None:
        async with asyncio.timeout(DEADLINE_S):
            while not is_true():
                await asyncio.sleep(0.005)


class Lines(ClientTest):
    async def test_a_broken_line_is_taken_up_with_cursor_digest_and_a_rising_attempt(self) -> None:
        async def first(line: Line) -> None:
            await line.snapshot()
            line.connection.transport.abort()

        async def second(line: Line) -> None:
            await line.welcome()
            await line.until_closed()

        for codec in (json_codec, msgpack_codec):
            async with ScriptedServer(codec, first, second) as server:
                client = self.client(server, codec=codec)
                run = asyncio.create_task(client.run())
                await self.until(lambda: len(server.hellos) == 2 and client.state.greeted)
                client.close()
                self.assertEqual((await run).code, 1000)
            self.assertEqual([hello["attempt"] for hello in server.hellos], [1, 2])
            self.assertEqual(server.hellos[0]["cursor"], None)
            self.assertEqual(server.hellos[1]["cursor"], {"epoch": EPOCH, "sync_version": 1})
            self.assertEqual(server.hellos[1]["digest"], ROWS.sums()["digest"])

    async def test_attempts_rise_over_restarts(self) -> None:
        store = MemoryStore()

        async def stays(line: Line) -> None:
            await line.snapshot()
            await line.until_closed()

        async with ScriptedServer(json_codec, stays) as server:
            for _ in range(2):
                client = self.client(server, store=store)
                run = asyncio.create_task(client.run())
                await self.until(lambda: client.state.greeted and client.shown().is_loaded)
                client.close()
                await run
        self.assertEqual([hello["attempt"] for hello in server.hellos], [1, 2])
        self.assertEqual(server.hellos[1]["cursor"], {"epoch": EPOCH, "sync_version": 1})

    async def test_close_before_run_is_kept_in_mind(self) -> None:
        async with ScriptedServer(json_codec, Line.until_closed) as server:
            client = self.client(server)
            client.close()
            ending = await asyncio.wait_for(client.run(), DEADLINE_S)
        self.assertEqual(ending.code, 1000)

    async def test_44xx_stays_away(self) -> None:
        async def replaced(line: Line) -> None:
            await line.send(t="bye", code=4404, reason="replaced")
            await line.connection.close(4404)

        async with ScriptedServer(json_codec, replaced) as server:
            ending = await asyncio.wait_for(self.client(server).run(), DEADLINE_S)
        self.assertEqual((ending.code, len(server.hellos)), (4404, 1))

    async def test_42xx_comes_back_with_a_new_token(self) -> None:
        async def expired(line: Line) -> None:
            await line.welcome()
            await line.connection.close(4200)

        async with ScriptedServer(json_codec, expired, Line.snapshot) as server:
            client = self.client(server)
            run = asyncio.create_task(client.run())
            await self.until(lambda: len(server.hellos) >= 2)
            client.close()
            await run
        self.assertEqual([hello["token"] for hello in server.hellos[:2]], ["token-1", "token-2"])

    async def test_no_subprotocol_in_common_stays_away(self) -> None:
        async def unsupported(line: Line) -> None:
            await line.connection.send('{"t":"bye","code":4405,"reason":"no common version"}')
            await line.connection.close(4405)

        async with ScriptedServer(None, unsupported) as server:
            ending = await asyncio.wait_for(self.client(server).run(), DEADLINE_S)
        self.assertEqual(ending.code, 4405)

    async def test_what_is_no_frame_ends_the_socket_and_what_cannot_be_read_is_asked_for(self) -> None:
        asked: list[str] = []

        async def gibberish(line: Line) -> None:
            await line.snapshot()
            await line.connection.send('{"t":"hb","epoch":5}')
            self.assertEqual((await line.receive())["t"], "sync")
            await line.connection.send('{"t":"invented"}')
            await line.connection.send("{")
            await line.until_closed()
            asked.append(str(line.connection.close_code))

        async with ScriptedServer(json_codec, gibberish, Line.until_closed) as server:
            client = self.client(server, on_ask=asked.append)
            run = asyncio.create_task(client.run())
            await self.until(lambda: len(server.hellos) == 2)
            client.close()
            await run
        self.assertEqual(asked, ["unreadable", "4400"])


class Silence(ClientTest):
    async def test_a_socket_without_frames_is_given_up(self) -> None:
        async def silent(line: Line) -> None:
            await line.welcome(heartbeat_ms=1)
            await line.until_closed()

        heard: list[str] = []
        async with ScriptedServer(json_codec, silent) as server:
            socket = await open_websocket(f"ws{server.url[4:]}/v1/ws", json_codec.SUBPROTOCOL)
            connection = Connection(
                socket, json_codec, lambda frame: heard.append(frame["t"]), lambda: None, grace_ms=50
            )
            connection.send({"t": "hello", "token": "t", "device": "d", "cursor": None})
            ending = await asyncio.wait_for(connection.live(), DEADLINE_S)
        self.assertEqual((heard, ending.code), (["welcome"], 1006))


class Commands(ClientTest):
    async def test_unanswered_commands_go_over_the_next_socket_merged(self) -> None:
        seen: list[dict[str, Any]] = []

        async def takes_and_breaks(line: Line) -> None:
            await line.snapshot()
            seen.append(await line.receive())
            line.connection.transport.abort()

        async def answers(line: Line) -> None:
            await line.welcome()
            seen.append(await line.receive())
            item = {"conv": "a", "status": "applied", "read_seq": 8, "unread": 0}
            await line.send(t="acked", id=seen[-1]["id"], items=[item], sync_version=0, total=0, digest="0" * 12)
            await line.until_closed()

        async with ScriptedServer(json_codec, takes_and_breaks, answers) as server:
            client = self.client(server)
            run = asyncio.create_task(client.run())
            await self.until(lambda: client.shown().is_loaded)
            first = client.commands.ack("a", 6)
            await self.until(lambda: len(server.hellos) == 2 or not client.state.greeted)
            second = client.commands.ack("a", 8)
            self.assertEqual(client.shown().total, 0)
            answered = await asyncio.wait_for(asyncio.gather(first, second), DEADLINE_S)
            client.close()
            await run
        self.assertEqual([item["status"] for item in answered], ["applied", "applied"])
        self.assertEqual(seen[0]["items"], [{"conv": "a", "seq": 6, "read_epoch": 0}])
        self.assertEqual(seen[1]["items"], [{"conv": "a", "seq": 8, "read_epoch": 0}])

    async def test_what_is_refused_for_the_moment_is_sent_again_and_what_is_refused_is_told(self) -> None:
        seen: list[dict[str, Any]] = []

        async def refuses(line: Line) -> None:
            await line.snapshot()
            for error in ({"code": "unavailable", "retry_ms": 10}, {"code": "invalid_field"}):
                seen.append(await line.receive())
                await line.send(t="error", id=seen[-1]["id"], message="no", **error)
            await line.until_closed()

        async with ScriptedServer(json_codec, refuses) as server:
            client = self.client(server)
            run = asyncio.create_task(client.run())
            await self.until(lambda: client.shown().is_loaded)
            with self.assertRaises(Refused) as caught:
                await asyncio.wait_for(client.commands.prefs("a", muted=True), DEADLINE_S)
            client.close()
            await run
        self.assertEqual(caught.exception.code, "invalid_field")
        self.assertEqual([frame["t"] for frame in seen], ["prefs", "prefs"])

    async def test_what_read_all_leaves_is_acked_at_the_head_that_was_shown(self) -> None:
        seen: list[dict[str, Any]] = []

        async def leaves_one(line: Line) -> None:
            await line.snapshot()
            seen.append(await line.receive())
            items = [{"conv": "a", "status": "stale"}]
            await line.send(t="acked", id=seen[-1]["id"], items=items, sync_version=1, **_of_acked())
            seen.append(await line.receive())
            await line.until_closed()

        async with ScriptedServer(json_codec, leaves_one) as server:
            client = self.client(server)
            run = asyncio.create_task(client.run())
            await self.until(lambda: client.shown().is_loaded)
            await asyncio.wait_for(client.commands.read_all(), DEADLINE_S)
            await self.until(lambda: len(seen) == 2)
            client.close()
            await run
        self.assertEqual(seen[0], {"t": "read_all", "id": 1, "epoch": EPOCH, "sync_version": 1})
        self.assertEqual(seen[1]["items"], [{"conv": "a", "seq": 8, "read_epoch": 0}])


def _of_acked() -> dict[str, Any]:
    sums = ROWS.sums()
    return {"total": sums["total"], "digest": sums["digest"]}
