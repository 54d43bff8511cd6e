"""Waiting for a condition with a deadline, instead of sleeping."""

import asyncio
import time
from collections.abc import Callable

LOOK_AGAIN_S = 0.01


async def until(is_true: Callable[[], bool], timeout_s: float) -> bool:
    """Whether it came true in time."""
    end = time.monotonic() + timeout_s
    while not is_true():
        if time.monotonic() > end:
            return False
        await asyncio.sleep(LOOK_AGAIN_S)
    return True
