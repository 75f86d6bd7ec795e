"""The words of a command line, for every command that reads files; they are small ones, of all kinds."""

import contextlib
import functools
import io
import json
import random
import shutil
from typing import Any

from equipoise.cli.application import build
from fuzz.mutation import PIECES
from fuzz.readers import certificate, csv_file, model, parquet, release, schema
from fuzz.readers.ledger_export import HISTORY
from fuzz.written import folder, written

SHARE = 0.02

COMMANDS = (
    *(
        ["verify", "CERTIFICATE"],
        ["verify", "RELEASE", "--json"],
        ["explain", "CERTIFICATE"],
        ["schema", "draft", "CSV"],
    ),
    *(
        ["schema", "check", "CSV", "SCHEMA"],
        ["predict", "RELEASE", "CSV"],
        ["predict", "RELEASE", "PARQUET", "--probabilities"],
    ),
    *(
        ["ledger", "verify", "LEDGER", "--against", "EXPORT"],
        ["ledger", "show", "LEDGER"],
        ["ledger", "withdrawn", "LEDGER"],
        ["ledger", "checkpoint", "LEDGER", "--key", "EXPORT", "--to", "sqlite:///dev/null"],
        ["key", "show", "EXPORT"],
    ),
    *(
        ["train", "CSV", "--schema", "SCHEMA", "--epsilon", "1", "--alpha", "0.1", "--mechanism", "output"],
        ["plan", "-n", "100", "-d", "3", "--epsilon", "1", "--alpha", "0.1", "--mechanism", "output"],
    ),
)
WORDS = (
    *(
        "--json",
        "--quiet",
        "--help",
        "--delimiter",
        ";",
        "--out",
        "--force",
        "--",
        "-",
        "",
        "\0",
        "é",
        "\ud800",
        "../..",
        "/",
    ),
    *(
        "CERTIFICATE",
        "RELEASE",
        "CSV",
        "PARQUET",
        "SCHEMA",
        "MODEL",
        "LEDGER",
        "EXPORT",
        "/dev/zero",
        "/dev/null",
        "FOLDER",
    ),
    *("--labels", "1,2", "nan", "--classes", "a,b", "1e999", "-1", "x" * 5000),
)


@functools.cache
def _program(name: str) -> Any:
    # As the program does for a line that begins so: without a word it would have the names of commands alone.
    return build([name])


@functools.cache
def _files() -> dict[str, str]:
    from equipoise.ledger import Ledger
    from equipoise.ledger.chain import export
    from equipoise.vocabulary.facts import Budget

    at = folder() / "words"
    shutil.rmtree(at, ignore_errors=True)
    at.mkdir()
    for name, text in json.loads(release.examples()[0]).items():
        (at / name).write_text(text)
    ledger = f"sqlite:///{folder() / 'ledger.db'}#trial"
    Ledger(ledger).create(Budget(1.0))
    return {
        "RELEASE": str(at),
        "FOLDER": str(folder()),
        "LEDGER": ledger,
        "CERTIFICATE": str(written(certificate.examples()[0], "c.json")),
        "CSV": str(written(csv_file.examples()[0], "words.csv")),
        "PARQUET": str(written(parquet.examples()[0], "words.parquet")),
        "SCHEMA": str(written(schema.examples()[0], "words.toml")),
        "MODEL": str(written(model.examples()[0], "words.json")),
        "EXPORT": str(written(export("trial", HISTORY).encode(), "export.json")),
    }


def examples() -> list[bytes]:
    """Return a line for every command."""
    return [json.dumps(words).encode() for words in COMMANDS]


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Lose, add, change or move a word after the command's name."""
    try:
        words = [str(word) for word in json.loads(data)] or ["verify"]
    except (ValueError, TypeError, RecursionError):
        words = ["verify"]
    place = chance.randrange(1, len(words) + 1)
    way = chance.randrange(4)
    if way == 0:
        del words[place:]
    elif way == 1:
        words.insert(place, chance.choice(WORDS))
    elif way == 2:
        words[place:] = [chance.choice(WORDS)]
    else:
        words.insert(place, chance.choice(PIECES).decode("utf-8", "replace"))
    return json.dumps(words).encode()


def read(data: bytes) -> None:
    """Run the line; what it prints is thrown away, and the parser's own refusals are answers."""
    try:
        words = [str(word) for word in json.loads(data)]
    except (ValueError, TypeError, RecursionError):
        return
    # Other commands compute for minutes, and files that were asked for would be written anywhere.
    if not words or words[0] not in ("verify", "explain", "schema", "predict", "ledger", "train", "plan"):
        return
    if any(word.startswith(("--out", "--curve")) for word in words):
        return
    if words[0] == "train":
        # First, where it cannot pass for the value of another option: nothing is spent and nothing written.
        words.insert(1, "--dry-run")
    if words[:2] in (["ledger", "create"], ["ledger", "export"]):
        return
    words = [_files().get(word, word) for word in words]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            _program(words[0])(words, standalone_mode=False)
        except SystemExit:
            return
        except Exception as error:
            if not hasattr(error, "exit_code"):
                raise
