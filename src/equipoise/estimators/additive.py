"""Private additive models: a curve a column of numbers, as fine as public facts allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from equipoise.data.schema import CurveColumn, NumberColumn, Pair, Schema
from equipoise.data.schema.kinds.curve import MOST_CELLS, are_halves, curved
from equipoise.data.schema.kinds.number import by_root
from equipoise.data.schema.pairs import all_lines
from equipoise.data.schema.typical import NEAR, are_sides, public_norm
from equipoise.errors import EquipoiseError, InvalidParameter
from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.logistic import LogisticRegression
from equipoise.estimators.ridge import Ridge
from equipoise.estimators.saved import Saved, Setting
from equipoise.planning.curves import CELLS, cells_for, pairs_are_worth
from equipoise.planning.issue import issue
from equipoise.planning.notes import Notes
from equipoise.planning.request import Request
from equipoise.vocabulary.facts import Domain, Label
from equipoise.vocabulary.numbers import plain

# What asks for a rule by public facts.
PUBLIC = "public"

# What is said where columns cannot bend.
LINES = (
    "every effect is a line: columns bend between the bounds of a schema, and rows are numbers in a Domain; pass "
    "domain=eq.Schema.from_toml(...) for curves, or LogisticRegression or Ridge for lines (docs/additive.md)"
)


class Additive(PrivateLinearModel):
    """A linear model of a schema whose columns of numbers became curves, by a public rule (N8)."""

    cells: int | str = PUBLIC
    pairs: Sequence[Sequence[str]] | str = ()

    # The model that this one is where nothing bends.
    _line: ClassVar[type[PrivateLinearModel]]

    @property
    def _public_facts(self) -> Domain | Schema | None:
        """The declared facts, columns of numbers described as curves; a schema that has curves is taken as it is."""
        facts, asked = self.domain, plain(self.cells)
        number = isinstance(asked, int) and not isinstance(asked, bool) and (asked == 0 or are_halves(asked))
        if not (number or asked == PUBLIC):
            found, remedy = f"cells={self.cells!r}", 'pass cells="public", or 16 to have 16 cells whatever they cost'
            powers = f"a number of cells, 2, 4, 8 and so on to {MOST_CELLS}"
            raise InvalidParameter(f'{powers}, 0 for lines, or "public"', found, remedy)
        if not isinstance(facts, Schema):
            if facts is not None and asked not in (PUBLIC, 0):
                found = f"cells={self.cells!r} and rows of numbers in a Domain, whose columns have no names and kinds"
                remedy = "pass domain=eq.Schema.from_toml(...), or leave cells out, which means lines"
                raise InvalidParameter(
                    "a schema, whose columns of numbers have bounds between which they bend", found, remedy
                )
            if facts is not None and len(self.pairs) and self.pairs != PUBLIC:
                found = "rows of numbers in a Domain, which names no columns"
                raise InvalidParameter("a schema, which names columns", found, "pass domain=eq.Schema.from_toml(...)")
            return facts
        facts = self._asked_together(facts)
        bends = [type(column) is NumberColumn for column in facts.columns]
        if any(bends) and not any(isinstance(column, CurveColumn) for column in facts.columns) and asked != 0:
            facts = _curved(facts, asked if isinstance(asked, int) else self._rule(facts))
        return self._worth_together(facts) if self.pairs == PUBLIC else facts

    def _asked_together(self, schema: Schema) -> Schema:
        """Return a schema with the pairs that were asked for by name, after its own."""
        asked = self.pairs
        if asked == PUBLIC or (isinstance(asked, list | tuple) and not asked):
            return schema
        known = isinstance(asked, list | tuple) and all(isinstance(pair, list | tuple) for pair in asked)
        if not known or not all(len(pair) == 2 for pair in asked):
            found = f"pairs={asked!r}"
            remedy = f'pass pairs=[("age", "hours")], or pairs="{PUBLIC}"; the schema file has cells as well'
            raise InvalidParameter(f'a list of pairs of columns\' names, or "{PUBLIC}"', found, remedy)
        return replace(schema, pairs=(*schema.pairs, *(Pair((first, second)) for first, second in asked)))

    def _worth_together(self, schema: Schema) -> Schema:
        """Return a schema with a line of every number for each other column, if those are worth their noise."""
        pairs = all_lines(schema)
        # A norm that somebody declared stays.
        norm = None if schema.row_norm == public_norm(schema) else schema.row_norm
        together = replace(schema, pairs=(*schema.pairs, *pairs), row_norm=norm)
        together = replace(together, row_norm=norm or public_norm(together))
        without, with_them = self._cost(schema), self._cost(together) if pairs else None
        task = "regression" if schema.target.classes is None else "classification"
        if without is None or with_them is None or not pairs_are_worth(without, with_them, task):
            return schema
        return together

    def _rule(self, schema: Schema) -> int:
        """Return how many cells are hardly dearer than lines by the modelled costs of the same training on each."""
        costs = {cells: self._cost(_curved(schema, cells)) for cells in CELLS}
        # A line that cannot be planned is told as such; curves that cannot are no choice.
        if costs[0] is None:
            return 0
        known = {cells: cost for cells, cost in costs.items() if cost is not None}
        return cells_for(known, "regression" if schema.target.classes is None else "classification")

    @property
    def _is_declared(self) -> bool:
        """Whether a row norm was declared, which stays."""
        return isinstance(self.domain, Schema) and self.domain.row_norm is not None

    def _request(self, n_samples: int, n_features: int, found: tuple[Label, ...] = ()) -> Request:
        asked = super()._request(n_samples, n_features, found)
        facts = self._public_facts
        if isinstance(facts, Domain):
            return replace(asked, remarks=(LINES,) if plain(self.cells) == PUBLIC else ())
        if not isinstance(facts, Schema) or plain(self.cells) == 0 or self._is_declared:
            return asked
        # A descent between two classes, which were measured, is fitted to shortened rows (docs/additive.md).
        filled = are_sides(facts) and len(facts.target.classes or ()) == 2
        return replace(asked, row_norms=None, remarks=(_norm_written(facts),), filled=filled)

    def _cost(self, facts: Schema) -> float | None:
        """Return the modelled cost of this training on rows that are encoded so; None where it cannot be planned."""
        own = {name: value for name, value in self.get_params(deep=False).items() if name not in ("cells", "pairs")}
        line = self._line(**{**own, "domain": facts, "ledger": None})
        try:
            return Notes.of(issue(line._request(facts.n_samples or 0, facts.n_features))).cost
        except EquipoiseError:
            return None

    def _saved(self) -> Saved:
        # The finest curve of what was released, in place of the rule: that of another version may choose otherwise.
        schema: Schema | None = getattr(self, "schema_", None)
        finest = max((getattr(column, "cells", 0) for column in (schema.columns if schema else ())), default=0)
        saved = super()._saved()
        # Pairs are in the schema, and need no setting.
        settings = tuple(
            Setting("cells", finest) if entry.name == "cells" else entry
            for entry in saved.model.settings
            if entry.name != "pairs"
        )
        return replace(saved, model=replace(saved.model, settings=settings))


def _norm_written(schema: Schema) -> str:
    """Return in words by what rows are divided, and when to declare something else."""
    longest, written = schema.longest_row, schema.row_norm or schema.longest_row
    told = f"row_norm = {written:.4g} by the public rule of additive models, where a row may be {longest:.4g} long"
    if written >= NEAR * longest:
        return told
    return (
        f"{told}: where values lie near one end of their bounds, nearly all rows are clipped, and what tells them "
        f"apart may be lost; then declare tighter bounds, or row_norm = {longest:.4g} (docs/additive.md)"
    )


def _curved(schema: Schema, cells: int) -> Schema:
    """Return a schema whose columns of numbers are curves of so many cells, lines for 0, with a public row norm."""
    classes = schema.target.classes is not None
    columns = (_shaped(column, cells, classes) if type(column) is NumberColumn else column for column in schema.columns)
    found = replace(schema, columns=tuple(columns))
    return found if schema.row_norm is not None else replace(found, row_norm=public_norm(found))


def _shaped(column: NumberColumn, cells: int, classes: bool) -> NumberColumn:
    """Return a column of numbers as a curve, or as a line, which for classes may be those of its root."""
    # A number that is predicted is as often linear in an amount as in its root (docs/additive.md).
    shaped = by_root(column) if classes else column
    return curved(shaped, cells) if cells else shaped


class AdditiveClassifier(Additive, LogisticRegression):
    """Logistic regression of curves, for two classes or more, released with one privacy certificate.

    The score of a class is a sum of effects, one a column: a curve for a column of numbers, straight within equal cells
    between the schema's public bounds, or those of its root where bounds say that it is an amount; a number a level for
    categories. A curve is a line and departures from it, the finer the smaller. How many cells there are follows from
    n, the columns and the budget alone, and where no curve is worth its noise the model is `LogisticRegression` of
    those lines. The released schema has curves and roots, so that everything that reads one works as it does for lines
    (docs/additive.md). Rows of numbers in a `Domain`, with bounds or without: effects are lines, and plans say so.

    Parameters
    ----------
    cells : int or "public"
        How many cells each curve has, 2, 4, 8, ...; "public" picks it from public facts. 0 takes the schema as it is,
        and so is one with columns of kind "curve" taken.
    pairs : list of (str, str), or "public"
        Columns of numbers or categories whose effects are learnt together, besides those of each alone: a surface over
        the two, of 4 cells a column of numbers. Whoever asks for one knows why: no row is looked at to find it.
        "public" has all columns of numbers with all others, as lines, where public facts make them worth their noise.
    epsilon, delta, domain, alpha, mechanism, fit_intercept, random_state, public_seed, ledger, class_weight
        As in `LogisticRegression`; the domain is a `Schema`.

    Attributes
    ----------
    schema_ : Schema
        The schema by which rows are encoded, with the curves.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import equipoise as eq
    >>> from equipoise.data.schema import NumberColumn, Target
    >>> age = np.random.default_rng(0).uniform(0, 100, 20_000)
    >>> table = pd.DataFrame({"age": age, "ill": np.where(abs(age - 50) > 30, "yes", "no")})
    >>> schema = eq.Schema(20_000, (NumberColumn("age", (0, 100)),), Target("ill", classes=("no", "yes")),
    ...                    vouched_by="an example", vouched_on="2026-11-18")
    >>> model = eq.AdditiveClassifier(epsilon=1.0, domain=schema, random_state=0).fit(table)
    >>> model.predict(pd.DataFrame({"age": [5.0, 50.0, 95.0]})).tolist()
    ['yes', 'no', 'yes']
    """

    name: ClassVar[str] = "additive-classifier"
    _line: ClassVar[Any] = LogisticRegression


class AdditiveRegressor(Additive, Ridge):
    """Least squares of curves with a ridge, released with a privacy certificate.

    A prediction is a sum of effects, one a column, as in `AdditiveClassifier`; where no curve is worth its noise the
    model is `Ridge`.

    Parameters
    ----------
    cells : int or "public"
        How many cells each curve has, 2, 4, 8, ...; "public" picks it from public facts. 0 takes the schema as it is,
        and so is one with columns of kind "curve" taken.
    pairs : list of (str, str), or "public"
        Columns of numbers or categories whose effects are learnt together, besides those of each alone: a surface over
        the two, of 4 cells a column of numbers. Whoever asks for one knows why: no row is looked at to find it.
        "public" has all columns of numbers with all others, as lines, where public facts make them worth their noise.
    epsilon, delta, domain, alpha, mechanism, fit_intercept, random_state, public_seed, ledger
        As in `Ridge`; the domain is a `Schema`.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import equipoise as eq
    >>> from equipoise.data.schema import NumberColumn, Target
    >>> x = np.random.default_rng(0).uniform(-1, 1, 20_000)
    >>> schema = eq.Schema(20_000, (NumberColumn("x", (-1, 1)),), Target("y", bounds=(0, 1)),
    ...                    vouched_by="an example", vouched_on="2026-11-18")
    >>> model = eq.AdditiveRegressor(epsilon=1.0, domain=schema, random_state=0)
    >>> model = model.fit(pd.DataFrame({"x": x, "y": x**2}))
    >>> [round(value, 1) for value in model.predict(pd.DataFrame({"x": [-1.0, 0.0, 0.8]})).tolist()]
    [1.0, 0.0, 0.6]
    """

    name: ClassVar[str] = "additive-regressor"
    _line: ClassVar[Any] = Ridge
