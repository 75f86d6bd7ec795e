"""The reference: one page for each public name, from its docstring, grouped by what a reader looks for."""

import inspect
from pathlib import Path

import equipoise as eq

GROUPS = {
    "Estimators": "Models with scikit-learn's conventions: `plan`, `fit`, `predict`.",
    "Public facts": "What is known before a row is read.",
    "Checks, evaluation, releases": "Certificates, evaluations, folders, ledgers.",
    "Rooms": "Names that hold others.",
}

# Of scikit-learn's own routing of arguments, whose docstrings point into its own manual.
SCIKIT_LEARN_S = "set_fit_request, set_partial_fit_request, set_predict_request, set_score_request, set_transform_request, set_output"


def group_of(name: str) -> str:
    """Return the group in which a public name is listed."""
    value = getattr(eq, name)
    if inspect.ismodule(value):
        return "Rooms"
    if inspect.isclass(value) and hasattr(value, "fit"):
        return "Estimators"
    if value.__module__.startswith("equipoise.vocabulary") or name in ("Schema", "open_table", "check_rows"):
        return "Public facts"
    return "Checks, evaluation, releases"


def write(folder: Path) -> None:
    """Write the pages of the reference and their index."""
    folder.mkdir(parents=True)
    grouped: dict[str, list[str]] = {group: [] for group in GROUPS}
    for name in eq.__all__:
        grouped[group_of(name)].append(name)
        (folder / f"{name}.md").write_text(_page(name))
    lines = [
        "# Reference",
        "",
        "Every public name, from its own docstring; the examples there are run by the tests.",
        "",
    ]
    for group, names in grouped.items():
        lines += [f"## {group}", "", GROUPS[group], ""]
        lines += [f"- [`eq.{name}`]({name}.md): {_summary(name)}" for name in names] + [""]
    lines += ["```{toctree}", ":hidden:", "", *eq.__all__, "```", ""]
    (folder / "index.md").write_text("\n".join(lines))


def _summary(name: str) -> str:
    text = inspect.getdoc(getattr(eq, name)) or ""
    return text.split("\n")[0].replace("*", "\\*")


def _page(name: str) -> str:
    value = getattr(eq, name)
    if inspect.ismodule(value):
        directive, options, home = "automodule", [":members:", ":imported-members:"], value.__name__
        if name == "errors":
            options = [":members:"]
    else:
        directive = "autoclass" if inspect.isclass(value) else "autofunction"
        options = (
            [":members:", ":inherited-members: BaseEstimator", f":exclude-members: {SCIKIT_LEARN_S}"]
            if inspect.isclass(value)
            else []
        )
        home = f"{value.__module__}.{value.__qualname__}"
    return "\n".join(
        [
            f"# eq.{name}",
            "",
            "```{eval-rst}",
            f".. {directive}:: {home}",
            *("   " + each for each in options),
            "```",
            "",
        ]
    )
