"""The HTTP side: events, commands and pulls of a message service, and the tokens that it hands to its users."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from .violation import Violation

MAX_EVENTS = 500
TOKEN_LIFE_S = 900
REQUEST_TIMEOUT_S = 20


@dataclass(frozen=True)
class ServerApi:
    url: str
    api_key: str
    token_secret: str

    def token(self, user: str) -> str:
        """A JWT for the user, signed with HS256."""
        now = int(time.time())
        claims = {"sub": user, "iat": now, "exp": now + TOKEN_LIFE_S}
        signed = ".".join(_base64url(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
        signature = hmac.new(self.token_secret.encode(), signed.encode(), hashlib.sha256).digest()
        return f"{signed}.{_base64url(signature)}"

    async def call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """The answer, which has to be 200."""
        status, answer = await asyncio.to_thread(self._call, method, path, body)
        if status != 200:
            raise Violation(f"{method} {path}", 200, f"{status} {answer}")
        return answer

    async def events(self, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The result of each event, all of which have to be accepted."""
        results: list[dict[str, Any]] = []
        for start in range(0, len(events), MAX_EVENTS):
            answer = await self.call("POST", "/v1/events", {"events": events[start : start + MAX_EVENTS]})
            results += answer["results"]
        for event, result in zip(events, results, strict=True):
            if result["ok"] is not True:
                raise Violation(f"event {event['type']}", "ok", result)
        return results

    async def unread(self, user: str, limit: int | None = None, unread_only: bool = False) -> dict[str, Any]:
        """GET unread with the rows of all pages, which belong to one version."""
        query = {"limit": limit, "unread_only": "true" if unread_only else None}
        first: dict[str, Any] | None = None
        while True:
            given = "&".join(f"{name}={quote(str(value))}" for name, value in query.items() if value is not None)
            page = await self.call("GET", f"/v1/users/{quote(user, safe='')}/unread?{given}")
            if first is None:
                first = page
            elif page["sync_version"] != first["sync_version"]:
                return await self.unread(user, limit, unread_only)
            else:
                first["rows"] += page["rows"]
            if page.get("next") is None:
                return first
            query["cursor"] = page["next"]

    def _call(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {self.api_key}", "content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_TIMEOUT_S) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode()


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
