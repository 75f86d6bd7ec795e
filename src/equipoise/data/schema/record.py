"""A schema: the public facts of a table, which somebody vouches for; none is read from rows (docs/schema.md)."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal, Self

from equipoise.data.schema.columns import Bounds, Person, Target, read_person, read_target, settle
from equipoise.data.schema.file_format import COMMON_FILE, FileFormat, read_file_format
from equipoise.data.schema.kinds import IDENTIFIER, UNUSED, Column, read_columns
from equipoise.data.schema.kinds.number import NumberColumn
from equipoise.data.schema.pairs import Pair, Surface, check_pairs, read_pairs, surface_of
from equipoise.data.schema.text import LARGEST_FILE, Faults, load, parse, place, written, written_list, written_number
from equipoise.data.seeded import marked
from equipoise.errors import InvalidParameter, SchemaInvalid
from equipoise.vocabulary.facts import Domain
from equipoise.vocabulary.numbers import LARGEST_EPSILON, plain, require_number

VERSION = 1
DEFAULT_MISSING = ("", "NA", "NaN", "nan", "null")
MOST_COLUMNS = 10_000
MOST_LEVELS = 100_000
FACTS = ("schema_version", "n", "vouched_by", "vouched_on", "missing", "row_norm", "seeded")
KEYS = (*FACTS, "file", "target", "person", "columns", "pairs")


@dataclass(frozen=True, slots=True)
class Schema:
    """The public facts of a table: columns, target, number of rows, and who vouches for them.

    Parameters
    ----------
    n_samples : int or None
        The declared number of rows, or of persons; None is a blank.
    columns : tuple of NumberColumn, CategoryColumn and other kinds of columns
        The features, in the order in which they are encoded.
    target : Target
        What is predicted.
    unused : tuple of str
        Columns of the data that take no part.
    vouched_by, vouched_on : str
        Who says that these facts are public and true, and since which day (2026-11-16).
    missing : tuple of str
        Texts that count as a missing value.
    row_norm : float, optional
        Encoded rows longer than this are clipped; the longest that an encoded row can be if left out.
    private_bounds : float, optional
        The epsilon that pays for blank bounds. It belongs to a fit, not to the file.
    person : Person, optional
        The column of ids, where a person may have several rows; n then counts persons.
    file : FileFormat
        How a CSV file of the table is written; other formats know that themselves.
    identifiers : tuple of str
        Columns that name rows or persons; they take no part, and a prediction may pass one through.
    pairs : tuple of Pair
        Columns whose effects are learnt together, two at a time; their encoded columns come after all others.
    seeded : bool
        Whether seeded noise chose some of these facts: a prevalence, or bounds. They serve seeded runs, and no release.

    Examples
    --------
    >>> schema = Schema(100, (NumberColumn("age", (17, 90)),), Target("income", classes=("low", "high")))
    >>> schema.blanks(), schema.n_features, schema.task
    (('vouched_by', 'vouched_on'), 1, 'classification')
    """

    n_samples: int | None
    columns: tuple[Column, ...]
    target: Target
    unused: tuple[str, ...] = ()
    vouched_by: str = ""
    vouched_on: str = ""
    missing: tuple[str, ...] = DEFAULT_MISSING
    row_norm: float | None = None
    private_bounds: float | None = None
    person: Person | None = None
    file: FileFormat = COMMON_FILE
    identifiers: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()
    seeded: bool = False

    def __post_init__(self) -> None:
        """Refuse facts that cannot be so, or that contradict each other."""
        known = (self.person is None or isinstance(self.person, Person)) and isinstance(self.file, FileFormat)
        right = isinstance(self.columns, list | tuple) and all(isinstance(entry, Column) for entry in self.columns)
        known &= isinstance(self.unused, list | tuple) and isinstance(self.identifiers, list | tuple)
        known &= isinstance(self.pairs, list | tuple) and all(isinstance(pair, Pair) for pair in self.pairs)
        if not right or not isinstance(self.target, Target) or not known:
            raise SchemaInvalid(
                "columns (NumberColumn, CategoryColumn), a Target, tuples of unused and of identifiers' names, a "
                "Person or None, a FileFormat, and a tuple of Pairs",
                "something else",
                'write Schema(100, (NumberColumn("age", (17, 90)),), Target("income", classes=("no", "yes")))',
            )
        epsilon = None if self.private_bounds is None else _price(self.private_bounds)
        faults = Faults()
        self._check_columns(faults)
        settle(
            self,
            n_samples=faults.count("n", self.n_samples),
            columns=tuple(self.columns),
            unused=tuple(self.unused),
            identifiers=tuple(self.identifiers),
            pairs=tuple(self.pairs),
            vouched_by=faults.text("vouched_by", self.vouched_by).strip(),
            vouched_on=faults.day("vouched_on", self.vouched_on),
            missing=faults.texts("missing", self.missing, empty=True),
            row_norm=faults.scale("row_norm", self.row_norm),
            private_bounds=epsilon,
            seeded=faults.flag("seeded", self.seeded),
            file=self.file.with_columns(len(self.names)),
        )
        if not faults.found and len(self.to_toml().encode()) > LARGEST_FILE:
            faults.found.append(f"the whole text: at most {LARGEST_FILE // 2**20} MiB; found more")
        faults.refuse()

    def __setstate__(self, state: list[object]) -> None:
        """Take what an older version kept, too: facts that it does not know, the last ones, have their defaults."""
        settle(self, **{fact.name: fact.default for fact in fields(self)[len(state) :]})
        settle(self, **dict(zip((fact.name for fact in fields(self)), state, strict=False)))

    def _check_columns(self, faults: Faults) -> None:
        """Refuse columns that are too many, none, or named twice."""
        names = [column.name for column in self.columns]
        names += [faults.name(name) for name in (*self.unused, *self.identifiers)]
        names += [self.person.column] if self.person is not None and self.person.column else []
        seen = {self.target.name}
        for name in names:
            if name in seen:
                faults.found.append(f"{place('columns', name)}: each name once, the target's included; found it twice")
            seen.add(name)
        if not self.columns:
            faults.found.append("columns: at least one feature, besides the target; found none")
        check_pairs(self.pairs, self.columns, faults)
        parts = self.columns if faults.found else self.parts
        levels = sum(part.width for part in parts if part.entries < part.width)
        levels += len(self.target.classes or ())
        if len(names) > MOST_COLUMNS or levels > MOST_LEVELS:
            asked = f"at most {MOST_COLUMNS} columns, and at most {MOST_LEVELS} levels in all"
            faults.found.append(f"columns: {asked}; found {len(names)} and {levels}")

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """Read a schema file; blanks are taken, faults are refused, all of them at once."""
        return cls._read(load(path), str(path))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read the text of a schema file.

        Examples
        --------
        >>> schema = Schema.from_text('''
        ... schema_version = 1
        ... n = 32561
        ... [target]
        ... name = "income"
        ... classes = ["<=50K", ">50K"]
        ... [columns.age]
        ... kind = "number"
        ... bounds = []
        ... ''')
        >>> schema.blanks()
        ('vouched_by', 'vouched_on', 'columns.age.bounds')
        """
        return cls._read(text, "the text")

    @classmethod
    def _read(cls, text: str, source: str) -> Self:
        faults = Faults()
        document = faults.table("", parse(text, source), KEYS)
        version = document.get("schema_version")
        if version != VERSION or isinstance(version, bool | float):
            faults.add("schema_version", f"{VERSION} (a higher one is from a newer Equipoise)", version)
        target = read_target(document.get("target"), faults)
        columns, unused, identifiers = read_columns(document.get("columns"), faults)
        person = read_person(document.get("person"), faults)
        file = read_file_format(document.get("file"), faults)
        pairs = read_pairs(document.get("pairs"), faults)
        schema = faults.attempt(
            lambda: cls(
                n_samples=document.get("n"),
                columns=columns,
                target=target,
                unused=unused,
                vouched_by=document.get("vouched_by", ""),
                vouched_on=document.get("vouched_on", ""),
                missing=document.get("missing", DEFAULT_MISSING),
                row_norm=document.get("row_norm"),
                person=person,
                file=file,
                identifiers=identifiers,
                pairs=() if faults.found else pairs,
                seeded=document.get("seeded", False),
            )
        )
        faults.refuse(source)
        assert schema is not None  # noqa: S101 - a schema without faults was made
        return schema

    def to_toml(self) -> str:
        """Return the schema as canonical text: the same facts are always the same bytes."""
        lines = [
            f"schema_version = {VERSION}",
            f"n = {written('') if self.n_samples is None else self.n_samples}",
            f"vouched_by = {written(self.vouched_by)}",
            f"vouched_on = {self.vouched_on or written('')}",
            f"missing = {written_list(map(written, self.missing))}",
        ]
        if self.row_norm is not None:
            lines.append(f"row_norm = {written_number(self.row_norm)}")
        if self.seeded:
            lines.append("seeded = true")
        if written_otherwise := list(self.file.lines()):
            lines += ["", "[file]", *written_otherwise]
        lines += ["", "[target]", *self.target.lines()]
        if self.person is not None:
            lines += ["", "[person]", *self.person.lines()]
        for column in self.columns:
            lines += ["", f"[{place('columns', column.name)}]", *column.lines()]
        for kind, names in ((UNUSED, self.unused), (IDENTIFIER, self.identifiers)):
            for name in names:
                lines += ["", f"[{place('columns', name)}]", f"kind = {written(kind)}"]
        for pair in self.pairs:
            lines += ["", "[[pairs]]", *pair.lines()]
        return "\n".join([*lines, ""])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns that a table of this schema has; blank ones are left out."""
        ids = "" if self.person is None else self.person.column
        names = (*(column.name for column in self.columns), *self.unused, *self.identifiers, self.target.name, ids)
        return tuple(name for name in names if name)

    @property
    def digest(self) -> str:
        """The SHA-256 of the canonical text, in hexadecimal."""
        return hashlib.sha256(self.to_toml().encode()).hexdigest()

    def blanks(self) -> tuple[str, ...]:
        """Return the place of everything that is still blank; bounds that are paid for are not."""
        facts: dict[str, object] = {"n": self.n_samples, "vouched_by": self.vouched_by, "vouched_on": self.vouched_on}
        facts["target.name"] = self.target.name
        if self.person is not None:
            facts["person.column"] = self.person.column
        facts["file.decimal"] = self.file.decimal
        if self.target.classes is not None:
            facts["target.classes"] = self.target.classes
        elif self.private_bounds is None:
            facts["target.bounds"] = self.target.bounds
        for column in self.columns:
            path, paid = place("columns", column.name), self.private_bounds is not None
            facts |= {f"{path}.{key}": fact for key, fact in column.blanks().items() if not (paid and key == "bounds")}
        return tuple(path for path, fact in facts.items() if not fact)

    def require_complete(self, ignoring: tuple[str, ...] = ()) -> None:
        """Refuse a schema with blanks, and name every one of them."""
        blanks = [path for path in self.blanks() if path not in ignoring]
        if not blanks:
            return
        remedy = "fill each in from what is publicly known: docs/schema.md says what to look up"
        if any(path.endswith(".bounds") for path in blanks):
            remedy += (
                "; or let a part of epsilon pay for blank bounds: train --private-bounds 0.2 on the command line, "
                "schema.with_private_bounds(0.2) in Python, which is enough for 5 columns of 5,000 rows"
            )
        count = "1 blank" if len(blanks) == 1 else f"{len(blanks)} blanks"
        raise SchemaInvalid("a complete schema", f"{count}: {', '.join(blanks)}", remedy)

    @property
    def unbounded(self) -> tuple[str, ...]:
        """The names of number columns, and then of a regression's target, whose bounds are blank."""
        names = [column.name for column in self.columns if isinstance(column, NumberColumn) and column.bounds is None]
        return (*names, self.target.name) if self.task == "regression" and self.target.bounds is None else tuple(names)

    def with_private_bounds(self, epsilon: float) -> Self:
        """Return the schema with blank bounds to be paid for by a part of the budget."""
        if not self.unbounded:
            raise InvalidParameter("blank bounds to pay for", "a schema that has none", "leave private bounds out")
        if self.person is not None:
            found, remedy = "a schema of persons, for which no proof covers them", "fill the bounds in by hand"
            raise InvalidParameter("private bounds", found, remedy)
        return replace(self, private_bounds=_price(epsilon))

    def with_bounds(self, bounds: Mapping[str, Bounds], seeded: bool = False) -> Self:
        """Return the schema with blank bounds filled in; a declared fill outside of them moves to the nearer one.

        `seeded` says whether seeded noise chose them, which the schema remembers.
        """
        wrong = [name for name in bounds if name not in self.unbounded]
        if wrong:
            raise InvalidParameter("bounds for columns that lack them", f"{wrong[:8]}", f"choose from {self.unbounded}")
        columns = tuple(
            column.with_bounds(bounds[column.name])
            if isinstance(column, NumberColumn) and column.name in bounds
            else column
            for column in self.columns
        )
        target = self.target
        if target.name in bounds:
            target = replace(target, bounds=bounds[target.name])
        return replace(self, columns=columns, target=target, private_bounds=None, seeded=self.seeded or seeded)

    def reopened(self, seeded: bool) -> Self:
        """Return a released folder's schema for whoever fits again: a seeded release's prevalence may be seeded."""
        return replace(self, seeded=True) if seeded and self.target.prevalence is not None else self

    def as_certified(self, digest: str) -> Self:
        """Return the schema that a certificate names, without the mark that `reopened` may have given it."""
        declared = replace(self, seeded=False)
        return declared if declared.digest == digest else self

    @property
    def domain(self) -> Domain:
        """The domain of encoded rows: norm at most 1, and the classes or a target scaled to [-1, 1].

        What a row of each class counts for is relative to the heaviest (N2). Of a category only one entry is not 0, of
        a curve two: a row of q entries and norm 1 has absolute values that add up to sqrt(q) at most, and to no
        more than those of its columns divided by the row norm, a little more by rounding (E2d).
        """
        return marked(self._domain) if self.seeded else self._domain

    @property
    def _domain(self) -> Domain:
        most = None if self.person is None else self.person.rows_at_most
        entries = sum(part.entries for part in self.parts)
        divided = sum(part.summed_length for part in self.parts) / (self.row_norm or self.longest_row)
        summed = min(math.sqrt(entries), divided) * (1 + 1e-9) if entries < self.n_features else None
        if self.target.classes is None:
            return Domain(row_norm=1.0, labels=(-1.0, 1.0), rows_a_person=most, row_sum=summed)
        self.require_complete(ignoring=tuple(path for path in self.blanks() if path != "target.classes"))
        weights = self.target.class_weight
        counts = None if weights is None else tuple(weight / max(weights) for weight in weights)
        shares = self.target.prevalence
        common = None if shares is None else tuple(share / math.fsum(shares) for share in shares)
        domain = Domain(1.0, self.target.classes, rows_a_person=most, class_weights=counts, row_sum=summed)
        return replace(domain, prevalence=common)

    @property
    def n_features(self) -> int:
        """The number of encoded columns."""
        return sum(part.width for part in self.parts)

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        """The pairs with the facts of their columns."""
        return tuple(surface_of(pair, self.columns) for pair in self.pairs)

    @property
    def parts(self) -> tuple[Column | Surface, ...]:
        """What has encoded columns, in their order: the columns, then the surfaces of pairs."""
        return (*self.columns, *self.surfaces)

    def encoded_names(self) -> tuple[str, ...]:
        """Return the names of the encoded columns; bounds may still be blank.

        Examples
        --------
        >>> from equipoise.data.schema import CategoryColumn, Target
        >>> Schema(None, (CategoryColumn("job", ("none", "nurse"), unknown="none"),), Target("ill")).encoded_names()
        ('job=none', 'job=nurse')
        """
        return tuple(name for part in self.parts for name in part.encoded_names())

    @property
    def longest_row(self) -> float:
        """The longest that an encoded row can be before it is divided by a norm, but for rounding."""
        return math.sqrt(sum(part.squared_length for part in self.parts))

    @property
    def task(self) -> Literal["classification", "regression"]:
        """What the target asks for."""
        return "regression" if self.target.classes is None else "classification"


def _price(epsilon: object) -> float:
    """Return the epsilon that pays for private bounds; refuse what is none."""
    remedy = "pass the part of epsilon that private bounds may cost, for example 0.1"
    return require_number("private_bounds", plain(epsilon), above=0.0, largest=LARGEST_EPSILON, remedy=remedy)
