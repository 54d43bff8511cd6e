"""What a scenario fails with."""

from typing import Any


class Violation(Exception):
    """Something that the protocol or the scenario does not allow."""

    def __init__(self, what: str, expected: Any = None, got: Any = None):
        super().__init__(what if expected is None and got is None else f"{what}: expected {expected}, got {got}")


class NotSupported(Exception):
    """A step, or a key of a step, that this runner does not play."""
