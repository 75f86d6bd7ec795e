"""The target of a schema and whose rows they are: what each declares, and how it is read and written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from equipoise.data.schema.text import Faults, text_of, written, written_list, written_number
from equipoise.vocabulary.facts import Label

Bounds = tuple[float, float]

# So many rows of a person are kept where the schema says nothing else: enough for a mean, and few enough for the work
# of a fit, whose worst case is that everybody has so many.
ROWS_AT_MOST = 100


def settle(instance: object, **fields: object) -> None:
    """Give a frozen instance that is being made its checked values."""
    for name, value in fields.items():
        object.__setattr__(instance, name, value)


@dataclass(frozen=True, slots=True)
class Target:
    """What is predicted: one of some classes, or a number inside bounds.

    Parameters
    ----------
    name : str
        The column's name in the data; empty is a blank.
    classes : tuple of labels, optional
        The public label set of a classification, the first of which any other value counts as; empty is a blank.
    bounds : (low, high), optional
        The public range of a regression, which has no classes; None is a blank.
    class_weight : tuple of float, or mapping from class to float, optional
        What a row of each class counts for in training, in the order of the classes; None where all count alike.
    prevalence : tuple of float, or mapping from class to float, optional
        How common each class is publicly known to be; only ratios count. Plans are made for it; None where unknown.

    Examples
    --------
    >>> Target("income", classes=("<=50K", ">50K")).bounds is None
    True
    """

    name: str
    classes: tuple[Label, ...] | None = None
    bounds: Bounds | None = None
    class_weight: tuple[float, ...] | None = None
    prevalence: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse facts that cannot be so."""
        faults = Faults()
        classes = None if self.classes is None else faults.labels("target.classes", self.classes)
        bounds = faults.bounds("target.bounds", self.bounds)
        if self.classes is not None and self.bounds is not None:
            faults.found.append("target: classes for a classification or bounds for a regression; found both")
        elif classes and not faults.found:
            # NumPy would turn labels of several kinds into texts, and predictions would name no class.
            kinds = {type(label) if isinstance(label, str | bool) else float for label in classes}
            if len(classes) == 1 or len(kinds) > 1:
                asked = "two classes or more, all texts, all numbers, or true and false"
                faults.add("target.classes", asked, list(classes))
        weights = _for_each_class("class_weight", self.class_weight, classes or (), faults)
        shares = _for_each_class("prevalence", self.prevalence, classes or (), faults)
        settle(self, name=faults.text("target.name", self.name), classes=classes, bounds=bounds)
        settle(self, class_weight=weights, prevalence=shares)
        faults.refuse()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the target's TOML table."""
        yield f"name = {written(self.name)}"
        if self.classes is None:
            yield f"bounds = {written_bounds(self.bounds)}"
        else:
            yield f"classes = {written_list(map(written, self.classes))}"
        for key, numbers in (("class_weight", self.class_weight), ("prevalence", self.prevalence)):
            if numbers is not None:
                yield f"{key} = {written_list(map(written_number, numbers))}"


def _for_each_class(key: str, given: object, classes: tuple[Label, ...], faults: Faults) -> tuple[float, ...] | None:
    """Return a number for every class, from a list in their order or from a table by their texts."""
    if given is None:
        return None
    path, asked = f"target.{key}", "a number above 0 for each of the classes, as a list in their order or a table"
    if isinstance(given, Mapping):
        texts = {text_of(label): weight for label, weight in given.items()}
        given = [texts[text_of(label)] for label in classes] if set(texts) == set(map(text_of, classes)) else None
    if not classes or not isinstance(given, list | tuple) or len(given) != len(classes) or None in given:
        # What "balanced" would count is private.
        faults.add(path, asked, given)
        return None
    weights = [faults.scale(f"{path}[{position}]", weight) for position, weight in enumerate(given)]
    return None if None in weights else tuple(weight for weight in weights if weight is not None)


@dataclass(frozen=True, slots=True)
class Person:
    """Whose rows they are: n counts persons, and the promise is about all rows of one (docs/proofs/N1.md).

    Parameters
    ----------
    column : str
        The column that holds a person's id in every row; a row without one is left out. Empty is a blank.
    rows_at_most : int
        How many rows of one person are kept at most, the first in the table's order.

    Examples
    --------
    >>> Person("patient_id").rows_at_most
    100
    """

    column: str
    rows_at_most: int = ROWS_AT_MOST

    def __post_init__(self) -> None:
        """Refuse facts that cannot be so."""
        faults = Faults()
        most = faults.count("person.rows_at_most", self.rows_at_most)
        if most is None and not faults.found:
            faults.add("person.rows_at_most", "a whole number, or no such line for 100", self.rows_at_most)
        settle(self, column=faults.text("person.column", self.column), rows_at_most=most)
        faults.refuse()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the person's TOML table."""
        yield f"column = {written(self.column)}"
        yield f"rows_at_most = {self.rows_at_most}"


def read_person(table: object, faults: Faults) -> Person | None:
    """Return the person that a TOML table describes; None where there is no table, or one at fault."""
    if table is None:
        return None
    facts = faults.table("person", table, ("column", "rows_at_most"))
    return faults.attempt(lambda: Person(facts.get("column", ""), facts.get("rows_at_most", ROWS_AT_MOST)))


def written_bounds(bounds: Bounds | None) -> str:
    """Return bounds as TOML; none are an empty list."""
    return written_list(map(written_number, bounds or ()))


def read_target(table: object, faults: Faults) -> Target:
    """Return the target that a TOML table describes, or a blank one where it is at fault."""
    facts = faults.table("target", table, ("name", "classes", "bounds", "class_weight", "prevalence"))
    if isinstance(table, dict) and ("classes" in facts) == ("bounds" in facts):
        found = "both" if "classes" in facts else "neither"
        asked = "one line, classes = [...] for a classification or bounds = [...] for a regression"
        faults.found.append(f"target: {asked}; found {found}")
        facts.pop("bounds", None)
    name, classes, bounds = facts.get("name", ""), facts.get("classes"), facts.get("bounds")
    numbers = facts.get("class_weight"), facts.get("prevalence")
    return faults.attempt(lambda: Target(name, classes, bounds, *numbers)) or Target("")
