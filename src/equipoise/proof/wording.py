"""Words and lines that every section of an explanation uses."""

from equipoise.proof import perturbations, theorems
from equipoise.proof.argument import Argument


def number(value: float) -> str:
    """Return a number as the text shows it."""
    return f"{value:.6g}"


def listed(title: str, entries: tuple[str, ...]) -> str:
    """Return a title with its entries below it, nothing where there are none."""
    return "\n".join([title, *(f"  - {entry}" for entry in entries)]) if entries else ""


def hypotheses(argument: Argument) -> list[str]:
    """Return the conditions of the theorem that was used, each with whether it holds."""
    chosen = next((bound for bound in argument.bounds if bound.theorem == argument.theorem), None)
    if chosen is None:
        return []
    marks = [f"      {'yes' if entry.holds else 'NO '}  {entry.claim}" for entry in chosen.hypotheses]
    return [f"  Hypotheses of {chosen.theorem}, checked:", *marks]


def answers(argument: Argument) -> list[str]:
    """Return what every theorem said, each with its statement and what it misses."""
    known: dict[str, type[theorems.Theorem] | type[perturbations.Perturbation]]
    known = {**theorems.members(), **perturbations.members()}
    lines = []
    for bound in argument.bounds:
        theorem = known.get(bound.theorem.removesuffix("+A4").removesuffix("+E4"))
        statement = "" if theorem is None else f"{theorem.statement}  [{theorem.citation}]"
        value = "does not apply" if bound.value is None else number(bound.value)
        mark = "*" if bound.theorem == argument.theorem else " "
        lines.append(f"  {mark} {bound.theorem:<12} {value:<14} {statement}")
        lines += [f"      missing: {missing.claim}; {missing.remedy}" for missing in bound.missing]
    return lines


def clipped(argument: Argument) -> list[str]:
    """Return what is said about clipped slopes, if they are."""
    clip = argument.procedure.clip
    return (
        []
        if clip is None
        else [f"  No row's slope counts for more than {number(clip)}: steeper ones are clipped (B7)."]
    )
