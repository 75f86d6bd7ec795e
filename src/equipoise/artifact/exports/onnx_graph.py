"""A graph of ONNX that computes predictions from raw columns, in double precision.

It is built operator by operator from the same public rules as every other export: converters of scikit-learn's objects
know neither splines nor indicators of missing values, compute in single precision, and clip no row.
"""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

import numpy as np

from equipoise.artifact.column_rules import Array, NumberRule, Rule, TextRule, refusal
from equipoise.artifact.exported import Exported
from equipoise.artifact.exports.base import Export
from equipoise.data.bounded import middles_and_halves
from equipoise.data.schema.kinds.curve import hats
from equipoise.errors import InvalidParameter, MissingExtra
from equipoise.vocabulary.facts import Domain

# What runtimes of 2021 and later read.
OPERATORS = {"": 13, "ai.onnx.ml": 2}
FORMAT_VERSION = 7

PREDICTION, PROBABILITIES, ROWS = "prediction", "probabilities", "rows"


class OnnxGraph(Export):
    """A file of ONNX: every raw column is an input; outputs are `prediction` and, from log odds, `probabilities`.

    Inputs have the shape (rows, 1). Numbers are doubles, NaN where they are missing. Other columns are texts without
    blanks around them; a missing one is any of the texts that the schema counts as missing. A model without a schema
    has one input, `rows`, of shape (rows, columns): doubles, in the order of its training.
    """

    name: ClassVar[str] = "onnx"
    is_text: ClassVar[bool] = False

    def written(self, model: Exported) -> bytes:
        """Return the serialised graph."""
        try:
            onnx: Any = importlib.import_module("onnx")
        except ImportError:
            remedy = 'pip install "equipoise[onnx]", or export --to sql or csv, which need nothing'
            raise MissingExtra("a graph of ONNX", "onnx is not installed", remedy) from None
        names = [] if model.schema is None else [column.name for column in model.schema.columns]
        if taken := [name for name in names if name in (PREDICTION, PROBABILITIES)]:
            asked = f"raw columns with other names than {PREDICTION} and {PROBABILITIES}, which are outputs"
            raise InvalidParameter(
                asked, f"a column {taken[0]}", "export --to sql, where names of both may be the same"
            )
        graph = _Graph(onnx, names)
        _answer(graph, model, _scores(graph, model))
        facts = {"release": model.release, "certificate": model.certificate, "model": model.model}
        return graph.written(model.origin, facts)


class _Graph:
    """Nodes, constants, inputs and outputs, in the order in which they are asked for."""

    def __init__(self, onnx: Any, names: list[str]) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        # What is computed on the way has names that no raw column has.
        self._own = "step"
        while any(name.startswith(self._own) for name in names):
            self._own += "_"

    def input(self, name: str, kind: str, columns: int = 1) -> str:
        """Take a raw column in, or several, as DOUBLE or STRING."""
        self._inputs.append(self._described(name, kind, ["rows", columns]))
        return name

    def constant(self, values: Any) -> str:
        """Keep an array, a number or a list of texts."""
        name = self._new_name()
        self._constants.append(self._onnx.numpy_helper.from_array(np.asarray(values), name))
        return name

    def node(self, operator: str, *inputs: str, domain: str = "", into: str = "", **attributes: Any) -> str:
        """Compute by an operator, under a name of its own or a given one."""
        name = into or self._new_name()
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, [name], domain=domain, **attributes))
        return name

    def output(self, name: str, kind: str, *shape: int) -> None:
        """Give out what was computed under this name."""
        self._outputs.append(self._described(name, kind, ["rows", *shape]))

    def written(self, says: str, facts: dict[str, str]) -> bytes:
        """Return the graph as a file that says where it comes from."""
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, "equipoise", self._inputs, self._outputs, self._constants, doc_string=says
        )
        operators = [helper.make_opsetid(domain, version) for domain, version in OPERATORS.items()]
        model = helper.make_model(
            graph, opset_imports=operators, ir_version=FORMAT_VERSION, producer_name="equipoise", doc_string=says
        )
        helper.set_model_props(model, facts)
        self._onnx.checker.check_model(model)
        found: bytes = model.SerializeToString()
        return found

    def _described(self, name: str, kind: str, shape: list[Any]) -> Any:
        return self._onnx.helper.make_tensor_value_info(name, getattr(self._onnx.TensorProto, kind), shape)

    def _new_name(self) -> str:
        return f"{self._own} {len(self._nodes) + len(self._constants)}"


def _scores(graph: _Graph, model: Exported) -> str:
    """Return the scores, of shape (rows, outputs)."""
    columns, outputs = np.vstack([model.weights, model.directions]), len(model.weights)
    products = (_plain_products if model.schema is None else _encoded_products)(graph, model, columns)
    if len(columns) > outputs:
        # A row that is long in the few directions is clipped in them, as in training (P1).
        domain, places = model.facts.domain, np.arange(len(columns))
        reduced = graph.node("Gather", products, graph.constant(places[outputs:]), axis=1)
        most = graph.constant(domain.row_norm)
        size = graph.node("Max", _size(graph, reduced, domain), most)
        products = graph.node("Gather", products, graph.constant(places[:outputs]), axis=1)
        products = graph.node("Mul", products, graph.node("Div", most, size))
    return graph.node("Add", products, graph.constant(model.intercepts))


def _encoded_products(graph: _Graph, model: Exported, columns: Array) -> str:
    """Return rows as the schema encodes them, times the columns."""
    parts = [_column(graph, rule, columns[:, rule.encoded].T) for rule in model.rules]
    products = _sum(graph, [products for products, _ in parts])
    divisor = graph.constant(model.row_norm)
    if model.clips_rows:
        length = graph.node("Sqrt", _sum(graph, [squares for _, squares in parts]))
        divisor = graph.node("Max", length, divisor)
    return graph.node("Div", products, divisor)


def _plain_products(graph: _Graph, model: Exported, columns: Array) -> str:
    """Return rows, filled, scaled where the domain has bounds, and clipped as in training, times the columns."""
    domain, count = model.facts.domain, columns.shape[1]
    values = graph.input(ROWS, "DOUBLE", count)
    known = graph.node("Equal", graph.node("Sub", values, values), graph.constant(0.0))
    # What is not finite does not cancel itself.
    if domain.bounds is None:
        entries = graph.node("Where", known, values, graph.constant(domain.fill))
    else:
        middle, half = middles_and_halves(domain, count)
        apart = graph.node("Sub", graph.node("Where", known, values, graph.constant(middle)), graph.constant(middle))
        scaled = graph.node("Where", known, graph.node("Div", apart, graph.constant(half)), graph.constant(domain.fill))
        entries = graph.node("Clip", scaled, graph.constant(-1.0), graph.constant(1.0))
    # No square overflows of what was divided by the largest entry.
    largest = graph.node("ReduceMax", graph.node("Abs", entries), axes=[1], keepdims=1)
    divisor = graph.node("Max", largest, graph.constant(1.0))
    shorter = graph.node("Div", entries, divisor)
    factor = graph.node("Div", graph.constant(domain.row_norm), _size(graph, shorter, domain))
    clipped = graph.node("Mul", shorter, graph.node("Min", divisor, factor))
    return graph.node("MatMul", clipped, graph.constant(columns.T))


def _size(graph: _Graph, entries: str, domain: Domain) -> str:
    """Return what a domain keeps at most as large as its row norm, of shape (rows, 1)."""
    length = graph.node("Sqrt", _squares(graph, entries))
    if domain.row_sum is None:
        return length
    ratio = graph.constant(domain.row_norm / domain.row_sum)
    return graph.node("Max", length, graph.node("Mul", _along_rows(graph, graph.node("Abs", entries)), ratio))


def _sum(graph: _Graph, terms: list[str]) -> str:
    return graph.node("Sum", *terms)


def _squares(graph: _Graph, entries: str) -> str:
    """Return the sum of the squares of every row, of shape (rows, 1)."""
    return _along_rows(graph, graph.node("Mul", entries, entries))


def _along_rows(graph: _Graph, entries: str) -> str:
    return graph.node("ReduceSum", entries, graph.constant(np.array([1])), keepdims=1)


def _column(graph: _Graph, rule: Rule, weights: Array) -> tuple[str, str]:
    """Return what the entries of a raw column weigh, of shape (rows, outputs), and their squares, (rows, 1)."""
    if isinstance(rule, TextRule):
        return _text(graph, rule, weights)
    if isinstance(rule, NumberRule):
        return _number(graph, rule, weights)
    # What has a rule at all is read by SQL.
    raise refusal(rule.column, "ONNX", others="--to sql")


def _text(graph: _Graph, rule: TextRule, weights: Array) -> tuple[str, str]:
    flat = graph.node("Reshape", graph.input(rule.column.name, "STRING"), graph.constant(np.array([-1])))
    place = graph.node(
        "LabelEncoder",
        flat,
        domain="ai.onnx.ml",
        keys_strings=list(rule.places),
        values_int64s=list(rule.places.values()),
        default_int64=rule.at_unknown,
    )
    squares = np.sum(rule.entries**2, axis=1, keepdims=True)
    found = (graph.node("Gather", graph.constant(table), place) for table in (rule.entries @ weights, squares))
    return next(found), next(found)


def _number(graph: _Graph, rule: NumberRule, weights: Array) -> tuple[str, str]:
    value, nothing = graph.input(rule.column.name, "DOUBLE"), graph.constant(0.0)
    # What is not finite does not cancel itself.
    known = graph.node("Equal", graph.node("Sub", value, value), nothing)
    for missing in rule.missing:
        other = graph.node("Not", graph.node("Equal", value, graph.constant(missing)))
        known = graph.node("And", known, other)
    kept = graph.node("Clip", graph.node("Where", known, value, nothing), *map(graph.constant, (rule.low, rule.high)))
    # No difference of two bounds overflows in halves.
    middle, half = rule.low / 2.0 + rule.high / 2.0, rule.high / 2.0 - rule.low / 2.0
    scaled = graph.node("Div", graph.node("Sub", kept, graph.constant(middle)), graph.constant(half))
    blocks = [graph.node("Where", known, scaled, graph.constant(rule.filled))]
    if rule.root:
        one = graph.constant(1.0)
        doubled = graph.node("Add", blocks[0], one)
        # What rounds to less than -1 is -1.
        share = graph.node("Max", graph.node("Mul", doubled, graph.constant(0.5)), nothing)
        blocks = [graph.node("Sub", graph.node("Add", share, graph.node("Sqrt", share)), one)]
    if rule.cells:
        stretches, steps = np.array(list(hats(rule.cells)), dtype=np.float64).T[:, None]
        apart = graph.node("Abs", graph.node("Sub", blocks[0], graph.constant((2.0 * steps + 1.0) / stretches - 1.0)))
        shares = graph.node("Sub", graph.constant(1.0), graph.node("Mul", apart, graph.constant(stretches)))
        heights = graph.constant(np.sqrt(1.0 / stretches))
        blocks.append(graph.node("Mul", graph.node("Max", shares, nothing), heights))
    if rule.indicator:
        blocks.append(graph.node("Where", known, nothing, graph.constant(1.0)))
    entries = graph.node("Concat", *blocks, axis=1)
    return graph.node("MatMul", entries, graph.constant(weights)), _squares(graph, entries)


def _answer(graph: _Graph, model: Exported, scores: str) -> None:
    """Give out predictions and probabilities by scores."""
    one = graph.constant(np.array([-1]))
    if not model.classes:
        (low, high), (least, most) = model.range, model.in_units()
        kept = graph.node("Clip", graph.node("Reshape", scores, one), *map(graph.constant, (low, high)))
        share = graph.node("Mul", graph.node("Sub", kept, graph.constant(low)), graph.constant(1.0 / (high - low)))
        ends = graph.node("Mul", share, graph.constant(most - least))
        graph.node("Add", ends, graph.constant(least), into=PREDICTION)
        graph.output(PREDICTION, "DOUBLE")
        return
    if len(model.weights) == 1:
        both = graph.node("Concat", graph.node("Neg", scores), scores, axis=1)
        chances = graph.node("Sigmoid", both) if model.probabilities else ""
        # Of two that are the same the first is taken.
        best = graph.node("ArgMax", both, axis=1, keepdims=0)
    else:
        chances = graph.node("Softmax", scores, axis=1) if model.probabilities else ""
        best = graph.node("ArgMax", scores, axis=1, keepdims=0)
    labels = np.array(model.classes)
    kind = {"U": "STRING", "b": "BOOL", "i": "INT64", "f": "DOUBLE"}[labels.dtype.kind]
    graph.node("Gather", graph.constant(labels.astype(object) if kind == "STRING" else labels), best, into=PREDICTION)
    graph.output(PREDICTION, kind)
    if chances:
        graph.node("Identity", chances, into=PROBABILITIES)
        graph.output(PROBABILITIES, "DOUBLE", len(model.classes))
