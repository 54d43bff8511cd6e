"""What a close code asks of the client: its range decides, never the text (SPEC section 10)."""

from typing import Literal

Next = Literal["come_back", "back_off", "new_token", "stay_away"]

NORMAL = 1000
# No close frame came: the line broke, or was never there.
ABNORMAL = 1006
# What came is no frame.
PROTOCOL_ERROR = 4400
# No subprotocol in common.
UNSUPPORTED_VERSION = 4405

_RANGES: dict[int, Next] = {40: "come_back", 41: "back_off", 42: "new_token", 44: "stay_away"}


def after_close(code: int) -> Next:
    return _RANGES.get(code // 100, "back_off")
