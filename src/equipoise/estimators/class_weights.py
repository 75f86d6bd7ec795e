"""Class weights as users ask for them: a public number for every class, never one that rows decide (N2)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from equipoise.errors import InvalidParameter
from equipoise.planning.request import Request
from equipoise.vocabulary.facts import Label
from equipoise.vocabulary.numbers import plain, require_number

EXAMPLE = "write class_weight={0: 1.0, 1: 15.0}, for example one over what is publicly known to be each class's share"


def asked_weights(given: object, classes: object, prevalence: tuple[float, ...] | None = None) -> tuple[float, ...]:
    """Return the weight of every class, in their order; refuse what is not one public number for each.

    "balanced" makes classes count alike by their declared prevalence, and is refused where none is declared.

    Examples
    --------
    >>> asked_weights({"yes": 15, "no": 1}, ("no", "yes"))
    (1.0, 15.0)
    >>> asked_weights("balanced", ("no", "yes"), (0.75, 0.25))
    (1.3333333333333333, 4.0)
    >>> asked_weights("balanced", (0, 1))
    Traceback (most recent call last):
    equipoise.errors.InvalidParameter: asked: a public weight for every class; found: class_weight='balanced', which \
counts private rows; to do: declare the prevalence of the classes in the domain, or write class_weight={0: 1.0, 1: \
15.0}, for example one over what is publicly known to be each class's share
    """
    if given == "balanced" and prevalence is not None:
        return tuple(1 / share for share in prevalence)
    if isinstance(given, str):
        found = f"class_weight={given!r:.40}, which counts private rows"
        remedy = f"declare the prevalence of the classes in the domain, or {EXAMPLE}"
        raise InvalidParameter("a public weight for every class", found, remedy)
    if not isinstance(given, Mapping):
        found = f"class_weight of type {type(given).__name__}"
        raise InvalidParameter("class_weight, a mapping from class to weight", found, EXAMPLE)
    if not isinstance(classes, tuple):
        found, remedy = f"classes={classes!r}", "declare them: Domain(row_norm=1.0, classes=(0, 1))"
        raise InvalidParameter("declared classes, with class_weight", found, remedy)
    if set(given) != set(classes):
        found = f"weights for {_shown(given)}, classes {_shown(classes)}"
        raise InvalidParameter("a weight for each of the classes, and for no other", found, EXAMPLE)
    return tuple(require_number("class weight", plain(given[label]), above=0.0, remedy=EXAMPLE) for label in classes)


def divided(request: Request, weights: tuple[float, ...] | None) -> Request:
    """Return a request whose objective has these class weights and is divided by the largest of them (N2).

    The minimiser is the same, and no row counts for more than 1. The ridge is divided alike, and steps of a given
    length are as much longer.
    """
    if weights is None:
        return request
    heaviest, alpha, recipe = max(weights), request.alpha, request.recipe
    if recipe is not None and not isinstance(recipe.step, str):
        recipe = replace(recipe, step=recipe.step * heaviest)
    domain = replace(request.domain, class_weights=tuple(weight / heaviest for weight in weights))
    return replace(request, domain=domain, alpha=alpha if isinstance(alpha, str) else alpha / heaviest, recipe=recipe)


def _shown(labels: Iterable[Label]) -> str:
    return f"{', '.join(map(repr, labels)):.60}"
