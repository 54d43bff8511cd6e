"""What an error frame asks of the client (SPEC section 10)."""

from .frames import Frame

_RETRIED = frozenset({"rate_limited", "unavailable", "internal"})
# Where such an error names no time.
_RETRY_MS = 1000


def retry_delay_s(error: Frame) -> float | None:
    """When the same request may succeed; None where it never will."""
    if error["code"] not in _RETRIED and "retry_ms" not in error:
        return None
    return error.get("retry_ms", _RETRY_MS) / 1000
