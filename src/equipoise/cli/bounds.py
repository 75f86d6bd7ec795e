"""`equipoise bounds`: what every theorem says about a problem."""

import dataclasses
import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from equipoise.certify.record import to_plain
from equipoise.cli.options import whole_number
from equipoise.cli.public_facts import Classes, Labels, Radius, RowNorm, RowSum, read_domain
from equipoise.cli.recipe_options import RecipeText, read_recipe
from equipoise.errors import InvalidParameter
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.facts import Problem, Recipe


def command(
    n_samples: Annotated[
        int,
        typer.Option("--n-samples", "-n", parser=whole_number, help="The public number of rows."),
    ],
    alpha: Annotated[float, typer.Option(help="The strength of the penalty, its strong convexity.")],
    loss: Annotated[str, typer.Option(help="logistic, squared, hinge, huber:1.0, ...")] = "logistic",
    penalty: Annotated[str, typer.Option(help="l2, elastic-net:0.5, bridge:1.5.")] = "l2",
    row_norm: RowNorm = None,
    row_sum: RowSum = None,
    classes: Classes = None,
    labels: Labels = None,
    radius: Radius = None,
    intercept: Annotated[float, typer.Option(help="The entry of the constant column, 0 for none.")] = 0.0,
    n_features: Annotated[int, typer.Option(help="Columns; they matter for rounding only.")] = 1,
    tolerance: Annotated[
        float, typer.Option(help="The gradient norm at which the solver stops; 0 for the exact minimiser.")
    ] = 0.0,
    recipe: RecipeText = "",
    method: Annotated[
        str, typer.Option(help="Another algorithm: heavy-ball:0.5, ranking, ... (docs/stable-algorithms.md).")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show how far the weights can move when one row is replaced, by every theorem."""
    from equipoise.planning.stability import bounds
    from equipoise.planning.words import statement_of

    if classes is None and labels is None and loss == "logistic":
        classes = "0,1"
    domain = read_domain(row_norm, classes, labels, radius, row_sum)
    problem = Problem(losses.named(loss), penalties.named(penalty, alpha), domain, intercept)
    entries = read_recipe(recipe)
    if foreign := entries.keys() - {field.name for field in dataclasses.fields(Recipe)}:
        remedy = "use the options --radius, --loss and --penalty"
        raise InvalidParameter("entries of a recipe", ", ".join(sorted(foreign)), remedy)
    how = Recipe(tolerance, method=method, **entries)
    answers = bounds(problem, how, n_samples, n_features)
    if as_json:
        print(json.dumps([to_plain(answer) for answer in answers], indent=2))
        return
    table = Table(title=f"Replace-one sensitivity of a {loss} model, n = {n_samples}", title_justify="left")
    table.add_column("theorem")
    table.add_column("bound (L2)", justify="right")
    table.add_column("certifies")
    table.add_column("statement, or what is missing")
    for answer in answers:
        value = "-" if answer.value is None else f"{answer.value:.6g}"
        if answer.law:
            value = f"{answer.typical:.6g} on average"
        missing = "; ".join(f"{hypothesis.claim}: {hypothesis.remedy}" for hypothesis in answer.missing)
        table.add_row(
            answer.theorem,
            value,
            "yes" if answer.certifies else "no",
            missing or statement_of(answer.theorem),
        )
    Console().print(table)
