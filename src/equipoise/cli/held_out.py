"""`equipoise train --holdout`: rows that are kept from the training, and the evaluation on them."""

from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.errors import InvalidParameter

if TYPE_CHECKING:
    from equipoise.certify.certificate import Certificate
    from equipoise.estimators.base import PrivateLinearModel
    from equipoise.evaluation.evaluation import Evaluation


def require_holdout(share: float | None, by: str, engine: str, out: Path, evaluation: Path | None) -> Path:
    """Refuse what holding rows out cannot have; return the folder for their evaluation."""
    folder = Path("evaluation") if evaluation is None else evaluation
    if share is None:
        remedy = "pass --holdout 0.2 as well, or leave it out"
        if by:
            asked = "rows that are held out, to count them by a column"
            raise InvalidParameter(asked, f"--holdout-by {by} alone", remedy)
        if evaluation is not None:
            asked = "rows that are held out, to evaluate on them"
            raise InvalidParameter(asked, f"--evaluation {evaluation} alone", remedy)
        return folder
    if engine != "memory":
        found, remedy = f"--engine {engine}", "leave --engine out, or evaluate on another table (equipoise evaluate)"
        raise InvalidParameter("a table in memory, to hold rows out by their places", found, remedy)
    require_apart(out, folder, "--evaluation")
    from equipoise.evaluation.page import require_drawing

    require_drawing()
    return folder


def require_apart(release: Path, evaluation: Path, option: str) -> None:
    """Refuse an evaluation in the folder of a release: the one would be what the other has too much."""
    one, other = release.resolve(), evaluation.resolve()
    if one == other or one in other.parents or other in one.parents:
        found, remedy = f"{release} and {evaluation}, one in the other", f"pass {option} FOLDER, beside the release"
        raise InvalidParameter("a folder for the release and another for its evaluation", found, remedy)


def planned_with(face: "PrivateLinearModel", share: float, by: str) -> "Certificate":
    """Return the plan of a training with rows that are held out from it."""
    from equipoise.evaluation.held_out import plan_held_out, require_told

    planned = plan_held_out(face, share, by)
    require_told(planned)
    return planned


def evaluated(face: "PrivateLinearModel", table: object, share: float, by: str) -> "Evaluation":
    """Train on some rows and evaluate on the others."""
    from equipoise.evaluation.held_out import train_and_evaluate

    return train_and_evaluate(face, table, holdout=share, by=by)


def plain_of(found: "Evaluation") -> dict[str, object]:
    """Return for programs what was counted; the id of the release has another place here."""
    from equipoise.cli.evaluate import plain_of as counted

    return {"id" if name == "release" else name: value for name, value in counted(found).items()}


def worth_of(planned: "Certificate") -> list[str]:
    """Return how well a plan's held-out rows will tell how good the model is, as a line of its summary."""
    from equipoise.planning.held_out import counts_of, worth

    counts = counts_of(planned)
    return [f"  {'worth':<9} of {counts.n_samples:,} held-out rows, {worth(counts)}"]


# Whether a file has more rows, or fewer, is private: it is said of every file that does not tell how many it has.
DECLARED = ", by the declared n: rows that the file lacks count as rows without values, in either part"


def line_of(found: "Evaluation", declared: bool = False) -> str:
    """Return for people what was found on held-out rows, as a line of the plan's summary.

    Where the number of all rows was `declared`, because the file does not tell it, what that does is said.
    """
    from equipoise.cli.evaluate import first_figures, told

    counts = found.counts
    figure = "".join(f"{told(name, each)}; " for name, each in first_figures(found).items())
    noise = f"{counts.law} noise of scale {counts.scale:.4g}"
    told_of = f"{counts.n_samples} rows, {counts.counts.size} counts with {noise}{DECLARED if declared else ''}"
    return f"  {'held out':<9} {figure}{told_of}"
