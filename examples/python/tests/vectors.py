"""The test vectors of the protocol."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[3] / "protocol" / "vectors"


def vectors(name: str) -> Any:
    return json.loads((FOLDER / name).read_text())


def sessions() -> list[Any]:
    return [json.loads(path.read_text()) for path in sorted((FOLDER / "sessions").glob("*.json"))]
