"""A client of the Tidemark protocol: unread counts that are right on every device."""

from .client import Client, Shown
from .commands import TO_THE_END, Refused
from .connection import Ending
from .store import FileStore, MemoryStore, Saved, Store
from .websocket import Socket, SocketClosed

__all__ = [
    "TO_THE_END",
    "Client",
    "Ending",
    "FileStore",
    "MemoryStore",
    "Refused",
    "Saved",
    "Shown",
    "Socket",
    "SocketClosed",
    "Store",
]
