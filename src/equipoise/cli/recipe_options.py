"""The option by which `plan`, `train` and `bounds` are told how a model descends."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.errors import InvalidParameter

if TYPE_CHECKING:
    from equipoise.estimators.base import PrivateLinearModel

# What a recipe's entries are; words where a number is no answer.
NUMBERS = ("passes", "step", "radius", "clip", "dropout", "skip", "l1_ratio", "power")
WHOLE = ("batch_size",)
WORDS = ("loss", "order", "average")

RecipeText = Annotated[
    str,
    typer.Option(
        "--recipe",
        help="How a model descends: passes=5,batch_size=256,step=public,order=fresh,... (docs/sgd.md).",
    ),
]


def read_recipe(text: str) -> dict[str, Any]:
    """Return the entries of a recipe as a constructor takes them.

    Examples
    --------
    >>> read_recipe("passes=5,batch_size=256,step=public")
    {'passes': 5.0, 'batch_size': 256, 'step': 'public'}
    """
    known = (*NUMBERS, *WHOLE, *WORDS)
    found: dict[str, Any] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (part.strip() for part in entry.partition("="))
        if not equals or name not in known or name in found:
            remedy = f"write NAME=VALUE once for each of: {', '.join(known)}"
            raise InvalidParameter("a recipe such as passes=5,step=public", f"{entry!r:.80}", remedy)
        found[name] = _value(name, value)
    return found


def _value(name: str, text: str) -> float | int | str | None:
    if name in WORDS:
        return text
    if text == "none":
        return None
    try:
        return int(text) if name in WHOLE else float(text)
    except ValueError:
        # A rule's name; the recipe refuses those that it does not know.
        return text


def for_model(kind: "type[PrivateLinearModel]", wanted: dict[str, Any]) -> dict[str, Any]:
    """Return what a model's constructor takes of the options; entries of a recipe that it does not take are refused.

    `alpha` and `mechanism` have defaults of their own on the command line, which models without them never see.
    """
    names = set(kind._get_param_names())
    foreign = [
        name for name in wanted if name not in names and not (name in DEFAULTS and wanted[name] == DEFAULTS[name])
    ]
    if foreign:
        raise InvalidParameter(
            f"options of {kind.__name__}",
            ", ".join(foreign),
            f"leave them out, or choose a model that has them; {kind.__name__} takes {', '.join(sorted(names))}",
        )
    # A model whose ridge is no rule has a default of its own.
    return {
        name: value for name, value in wanted.items() if name in names and not _rule_without_rule(kind, name, value)
    }


DEFAULTS = {"alpha": "public", "mechanism": "auto"}


def _rule_without_rule(kind: "type[PrivateLinearModel]", name: str, value: Any) -> bool:
    return name == "alpha" and value == "public" and kind().get_params()["alpha"] != "public"
