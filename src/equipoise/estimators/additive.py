"""Private additive models: a curve a column of numbers, as fine as public facts allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from equipoise.data.schema import CurveColumn, NumberColumn, Pair, Schema
from equipoise.data.schema.kinds.curve import curved
from equipoise.errors import EquipoiseError, InvalidParameter
from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.logistic import LogisticRegression
from equipoise.estimators.ridge import Ridge
from equipoise.estimators.saved import Saved, Setting
from equipoise.planning.curves import CELLS, cells_for
from equipoise.planning.issue import issue
from equipoise.planning.notes import Notes
from equipoise.vocabulary.facts import Domain
from equipoise.vocabulary.numbers import plain


class Additive(PrivateLinearModel):
    """A linear model of a schema whose columns of numbers became curves, by a public rule (N8)."""

    cells: int | str = "public"
    pairs: Sequence[Sequence[str]] = ()

    # The model that this one is where nothing bends.
    _line: ClassVar[type[PrivateLinearModel]]

    @property
    def _public_facts(self) -> Domain | Schema | None:
        """The declared facts, columns of numbers described as curves; a schema that has curves is taken as it is."""
        facts, asked = self.domain, plain(self.cells)
        known = asked == "public" or (isinstance(asked, int) and not isinstance(asked, bool) and asked >= 0)
        if not known:
            found, remedy = f"cells={self.cells!r}", 'pass cells="public", or 16 to have 16 cells whatever they cost'
            raise InvalidParameter('a number of cells, 0 for lines, or "public"', found, remedy)
        if not isinstance(facts, Schema):
            if facts is not None and asked not in ("public", 0):
                found = "rows of numbers in a Domain, which describes no kinds of columns"
                remedy = "pass domain=eq.Schema.from_toml(...), or leave cells out, which means lines"
                raise InvalidParameter(
                    "a schema, whose columns of numbers have bounds between which they bend", found, remedy
                )
            if facts is not None and len(self.pairs):
                found = "rows of numbers in a Domain, which names no columns"
                raise InvalidParameter("a schema, which names columns", found, "pass domain=eq.Schema.from_toml(...)")
            return facts
        facts = self._paired(facts)
        bends = [type(column) is NumberColumn for column in facts.columns]
        if not any(bends) or any(isinstance(column, CurveColumn) for column in facts.columns):
            return facts
        return _curved(facts, asked if isinstance(asked, int) else self._rule(facts))

    def _paired(self, schema: Schema) -> Schema:
        """Return a schema with the pairs that were asked for, after its own."""
        asked = self.pairs
        known = isinstance(asked, list | tuple) and all(isinstance(pair, list | tuple) for pair in asked)
        if not known or not all(len(pair) == 2 for pair in asked):
            found, remedy = f"pairs={asked!r}", 'pass pairs=[("age", "hours")]; the schema file has cells as well'
            raise InvalidParameter("a list of pairs of columns' names", found, remedy)
        if not asked:
            return schema
        return replace(schema, pairs=(*schema.pairs, *(Pair((first, second)) for first, second in asked)))

    def _rule(self, schema: Schema) -> int:
        """Return how many cells are worth their noise by the modelled costs of the same training on each encoding."""
        costs = {}
        own = {name: value for name, value in self.get_params(deep=False).items() if name not in ("cells", "pairs")}
        for cells in CELLS:
            facts = _curved(schema, cells)
            line = self._line(**{**own, "domain": facts, "ledger": None})
            try:
                costs[cells] = Notes.of(issue(line._request(facts.n_samples or 0, facts.n_features))).cost
            except EquipoiseError:
                # A line that cannot be planned is told as such; curves that cannot are no choice.
                if cells == 0:
                    return 0
        bends = [type(column) is NumberColumn for column in schema.columns]
        task = "regression" if schema.target.classes is None else "classification"
        return cells_for(costs, task, sum(bends) / len(bends))

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


def _curved(schema: Schema, cells: int) -> Schema:
    """Return a schema whose columns of numbers are curves of so many cells, itself for 0."""
    if cells == 0:
        return schema
    columns = (curved(column, cells) if type(column) is NumberColumn else column for column in schema.columns)
    return replace(schema, columns=tuple(columns))


class AdditiveClassifier(Additive, LogisticRegression):
    """Logistic regression of curves, for two classes or more, released with one privacy certificate.

    The score of a class is a sum of effects, one a column: a curve for a column of numbers, straight between knots that
    are equally spaced over the schema's public bounds; a number a level for categories. How many cells lie between the
    knots follows from n, the columns and the budget alone, and where no curve is worth its noise the model is
    `LogisticRegression`. The released schema has the curves, so that everything that reads one works as it does for
    lines (docs/additive.md). Rows of numbers in a `Domain`, with bounds or without: their effects are lines.

    Parameters
    ----------
    cells : int or "public"
        How many cells each curve has; "public" picks it from public facts, 0 means lines. A schema with columns of kind
        "curve" is taken as it is.
    pairs : list of (str, str)
        Columns of numbers or categories whose effects are learnt together, besides those of each alone: a surface over
        the two, of 4 cells a column of numbers. Whoever asks for one knows why: no row is looked at to find it.
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
        How many cells each curve has; "public" picks it from public facts, 0 means lines. A schema with columns of kind
        "curve" is taken as it is.
    pairs : list of (str, str)
        Columns of numbers or categories whose effects are learnt together, besides those of each alone: a surface over
        the two, of 4 cells a column of numbers. Whoever asks for one knows why: no row is looked at to find it.
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
    >>> [round(value, 1) for value in model.predict(pd.DataFrame({"x": [-1.0, 0.0, 0.8, 1.0]})).tolist()]
    [1.0, 0.0, 0.6, 1.0]
    """

    name: ClassVar[str] = "additive-regressor"
    _line: ClassVar[Any] = Ridge
