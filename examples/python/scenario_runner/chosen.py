"""The scenarios that are played against the product: what devices, commands and syncs have to get right."""

CHOSEN = (
    # Counting and mentions.
    "B36", "B40", "B42", "B44", "B46b", "B49", "B51", "B53", "B77",
    # Acks: order, races, clamps, what stays private, and the last one before the line is closed.
    "B08", "B09", "B11", "B13", "B14b", "B15", "B16", "B19", "B21", "B26", "B76", "B92", "B99", "W16",
    # Several devices and one badge.
    "B24", "B30", "B73", "B144", "B148",
    # Joining, leaving, clearing, hiding.
    "A25", "B47b", "B54", "B61", "B65", "B67", "X9",
    # Cursors, snapshots, pages, digests.
    "B01", "B43", "B79", "B86", "B91", "B94", "W21", "W22", "W25", "W27",
)  # fmt: skip
