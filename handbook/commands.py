"""Lines of commands that pages show: what they name must exist, whether or not a test runs them.

A line is read by the program's own commands, and nothing is carried out: a command, a command of a group, every option.
"""

import re
import shlex
from collections.abc import Iterator
from typing import Any

import typer

from equipoise.cli.application import build, commands

# Indented blocks, and blocks of commands; a line goes on where it ends in a backslash.
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?: {4}.*\n|\n)+", re.M)


def shown(page: str) -> Iterator[str]:
    r"""Return the lines of a page's blocks that call the program.

    Examples
    --------
    >>> list(shown("Try\n\n    equipoise plan --curve page.html  # a picture\n\nand\n\n```sh\nequipoise \\\n  demo\n```\n"))
    ['equipoise demo', 'equipoise plan --curve page.html']
    """
    blocks = [code for language, code in FENCED.findall(page) if language == "sh"]
    blocks += INDENTED.findall(FENCED.sub("", page))
    for block in blocks:
        for line in re.sub(r"\\\n\s*", "", block).split("\n"):
            words = line.split("#", 1)[0].strip() if '"' not in line else re.sub(r"\s+#.*", "", line).strip()
            if words.startswith("equipoise ") or words == "equipoise":
                yield words


def fault(line: str) -> str | None:
    """Return what a line names and the program does not have, if anything.

    Examples
    --------
    >>> fault("equipoise ledger create people --epsilon 3")
    >>> fault("equipoise plan --epsilom 3")
    'equipoise plan has no --epsilom'
    >>> fault("equipoise plam")
    'equipoise has no plam'
    """
    words = [word for word in shlex.split(re.split(r"\s[>|]\s", line)[0])[1:] if word != "..."]
    if not words or words[0] in ("--help", "--version"):
        return None
    if words[0] not in commands():
        return f"equipoise has no {words[0]}"
    # Which package the classes of commands come from has changed over the years; what they have, has not.
    command: Any = typer.main.get_command(build(words))
    name, left = "equipoise", words
    while hasattr(command, "commands") and left and not left[0].startswith("-"):
        if left[0] not in command.commands:
            return f"{name} has no {left[0]}"
        name, command, left = f"{name} {left[0]}", command.commands[left[0]], left[1:]
    return _wrong_words(command, name, left)


def _wrong_words(command: Any, name: str, words: list[str]) -> str | None:
    """Return the first word that a command does not take: an option, a value that is missing, a name too many."""
    options = {
        flag: each
        for each in command.params
        if each.param_type_name == "option"
        for flag in each.opts + each.secondary_opts
    }
    left, names = list(words), 0
    while left:
        word, _, value = left.pop(0).partition("=")
        if not word.startswith("-"):
            names += 1
        elif word == "--help":
            continue
        elif word not in options:
            return f"{name} has no {word}"
        elif not (options[word].is_flag or value):
            if not left:
                return f"{name}: {word} needs a value"
            left.pop(0)
    most = [each.nargs for each in command.params if each.param_type_name == "argument"]
    if min(most, default=0) >= 0 and names > sum(most):
        return f"{name} takes {sum(most)} names, not {names}"
    return None
