"""How bounds grow with the number of steps: the one picture beside the tables of stable algorithms."""

from collections.abc import Iterator
from dataclasses import replace

from equipoise.planning.stability import bounds
from equipoise_studies.stability_enhanced_privacy.table_descents import momentum_distance
from equipoise_studies.stability_enhanced_privacy.table_settings import MOMENTUM, SQUARED
from equipoise_studies.stability_enhanced_privacy.table_witnesses import N_ROWS
from equipoise_studies.study_charts import bands
from equipoise_studies.study_page import Figure

# Gradient descent is a heavy ball without momentum.
METHODS = {
    "gradient descent": "heavy-ball:0",
    "heavy ball, gamma = 0.5": "heavy-ball:0.5",
    "Nesterov, gamma = 0.9": "nesterov:0.9",
    "Nesterov, gamma = 1": "nesterov:1",
}
STEPS = (1, 2, 3, 5, 8, 13, 20, 30, 50)
BOUND, WITNESS = "our bound", "witness"


def records() -> Iterator[dict[str, object]]:
    """Yield bounds and how far apart runs ended, by method and number of steps."""
    for name, method in METHODS.items():
        for steps in STEPS:
            recipe = replace(MOMENTUM, passes=float(steps), method=method)
            proved = bounds(SQUARED, recipe, N_ROWS)[0].sensitivity
            for kind, value in ((BOUND, proved), (WITNESS, momentum_distance(SQUARED, recipe))):
                yield {"x": steps, "y": value, "low": value, "high": value, "ink": name, "dash": kind}


def steps_figure() -> Figure:
    """Return the picture: a distance over the number of steps, on logarithmic axes."""
    words = (
        f"How far one of {N_ROWS} rows can move least squares after T steps of {MOMENTUM.step:g} on all rows, without "
        "a penalty. Solid: proved. Dashed: how far apart two runs ended. With many steps the bounds leave the runs "
        "behind: a row's gradients are bounded over the ball that weights may reach, and the ball grows with T."
    )
    chart = bands(list(records()), x="steps T", y="distance of weights")
    return Figure("stable-algorithms-steps", "Bounds over the number of steps", words, chart)
