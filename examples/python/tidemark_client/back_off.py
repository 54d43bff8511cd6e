"""How long a device waits: before it connects again (SPEC section 10) and before it asks by sync again (CD5)."""

LEAST_S = 0.5
MOST_S = 30.0
SYNC_MOST_S = 60.0
# Doubling beyond this many times changes nothing, and would make a large number for no use.
MAX_DOUBLINGS = 6


def ceiling_s(failures: int) -> float:
    """The longest wait after so many failures in a row, from 1: 1 s, 2 s, 4 s … 30 s."""
    return min(MOST_S, 2.0 ** min(failures - 1, MAX_DOUBLINGS))


def reconnect_delay_s(failures: int, chance: float) -> float:
    """Full jitter. `chance` is a random number from 0 to 1."""
    return LEAST_S + chance * (ceiling_s(failures) - LEAST_S)


def sync_delay_s(fruitless: int) -> float:
    """`fruitless` syncs were sent since the sums were equal last: the first goes at once, then 1 s … 60 s."""
    return 0.0 if fruitless == 0 else min(SYNC_MOST_S, 2.0 ** min(fruitless - 1, MAX_DOUBLINGS))
