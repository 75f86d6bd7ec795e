"""Families discover their members from their folder, so that a new member is one new file."""

import dataclasses
import importlib
import inspect
import pkgutil
from functools import cache
from typing import Any, TypeVar

from ..errors import UnknownName

Member = TypeVar("Member")


@cache
def discover(package: str, base: Any, key: str = "id") -> dict[Any, Any]:
    """Return every concrete subclass of `base` defined in the modules of a package, keyed by its `id`.

    Another attribute of the class may be the `key`: the type that it is the partner of, for example. Two members with
    one key would make a certificate ambiguous, so they are refused.

    Examples
    --------
    >>> from equipoise.vocabulary import losses
    >>> "logistic" in discover("equipoise.vocabulary.losses", losses.Loss)
    True
    """
    found: dict[Any, Any] = {}
    for entry in sorted(pkgutil.iter_modules(importlib.import_module(package).__path__), key=lambda entry: entry.name):
        module = importlib.import_module(f"{package}.{entry.name}")
        for _, candidate in inspect.getmembers(module, inspect.isclass):
            own = candidate.__module__ == module.__name__ and issubclass(candidate, base) and candidate is not base
            if not own or inspect.isabstract(candidate):
                continue
            name = getattr(candidate, key)
            # A plus joins names.
            if name in found or "+" in str(name):
                remedy = f"change one: {found.get(name, candidate).__module__} or {candidate.__module__}"
                raise UnknownName(f"one member for each {key} in {package}", f"two for {name!r}", remedy)
            found[name] = candidate
    return found


def split_name(text: str, family: str) -> tuple[str, tuple[float, ...]]:
    """Return the name of a member and its parameter, if the text carries one: ``"huber:0.5"`` -> ``("huber", (0.5,))``.

    Examples
    --------
    >>> split_name("huber:0.5", "loss"), split_name("logistic", "loss")
    (('huber', (0.5,)), ('logistic', ()))
    """
    name, colon, parameter = text.partition(":")
    if not colon:
        return name, ()
    try:
        return name, (float(parameter),)
    except ValueError:
        raise UnknownName(f"a {family} with a number as its parameter", f"{text!r}", f"write {name}:NUMBER") from None


def make(members: dict[str, type[Member]], text: str, family: str, *arguments: float) -> Member:
    """Return the member that a text names, built from the arguments and the parameter that the text carries.

    Examples
    --------
    >>> from equipoise.vocabulary import losses
    >>> make(losses.members(), "huber:0.5", "loss")
    Huber(cap=0.5)
    """
    name, parameters = split_name(text, family)
    member = look_up(members, name, family)
    given = (*arguments, *parameters)
    if len(given) > len(dataclasses.fields(member)):  # type: ignore[arg-type]
        raise UnknownName(f"the {family} {name} without a parameter", f"{text!r}", f"write {name}")
    return member(*given)


def look_up(members: dict[str, type[Member]], name: str, family: str) -> type[Member]:
    """Return the member called `name`, or say which names exist.

    Examples
    --------
    >>> from equipoise.vocabulary import losses
    >>> look_up(losses.members(), "squared", "loss").__name__
    'Squared'
    """
    if name not in members:
        raise UnknownName(f"a known {family}", f"{name!r}", f"choose one of {', '.join(sorted(members))}")
    return members[name]
