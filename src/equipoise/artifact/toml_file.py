"""Small files that people write in TOML, a trust file and a policy: read whole, or refused in one error."""

import tomllib
from pathlib import Path
from typing import Any

from equipoise.data.schema.text import DEEP_KEY, has_deep_key
from equipoise.errors import InvalidParameter

# Some thousands of keys; a policy has ten lines.
LARGEST = 2**20


def read_toml(path: Path, asked: str, remedy: str) -> dict[str, Any]:
    """Return what a TOML file holds; refuse what is no plain file, too large, too deep, or not TOML."""
    try:
        if not path.is_file():
            raise InvalidParameter(asked, f"no plain file at {path}", remedy)
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise InvalidParameter(asked, f"more than {LARGEST} bytes in {path}", remedy)
        text = content.decode("utf-8")
        if has_deep_key(text):
            raise InvalidParameter(asked, f"{DEEP_KEY} in {path}", remedy)
        return tomllib.loads(text)
    except InvalidParameter:
        raise
    except (OSError, ValueError, RecursionError) as error:
        found = error.strerror if isinstance(error, OSError) else f"text in {path} that does not parse"
        raise InvalidParameter(asked, f"{found}", remedy) from None
