"""Formulas of the proof pages, written so that a person can read them in a terminal, as MathML that a browser draws.

A formula stays in the order in which it was written: a slash stays a slash, since `mu/2 ||w||^2` has no second reading
on one line and would have one as a fraction. What changes is signs: Greek names, `<=`, norms, roots, sums, and what is
raised or lowered. What is not certainly a formula (a name of the code, a path) is left as it is.
"""

import html
import re
from itertools import zip_longest

GREEK = {
    name: chr(code)
    for name, code in zip(
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho".split(),
        range(0x3B1, 0x3C2),
        strict=True,
    )
} | {"sigma": "σ", "tau": "τ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Delta": "Δ", "Gam": "Γ", "Gamma": "Γ"}
GREEK |= {"Phi": "Φ", "Sigma": "Σ", "Theta": "Θ", "Lambda": "Λ", "Omega": "Ω", "Psi": "Ψ", "Pi": "Π", "infinity": "∞"}

FUNCTIONS = frozenset(
    "ceil floor clip prox Proj sigmoid pull slope ln log log2 exp det tr cos sin cosh sinh tanh min max sup inf mean sign erf erfc E P Var Pr arg argmin argmax dim".split()
)
LARGE = {"sum": "∑", "prod": "∏", "product": "∏", "integral": "∫"}
SIGNS = {
    "<=": "≤", ">=": "≥", "!=": "≠", "==": "=", "->": "→", "<-": "←", "=>": "⇒", "||": "‖", "...": "…", "*": "·", "-": "−", "'": "′",
    "''": "″", "~": "∼", ":=": ":=",
}  # fmt: skip
TOKEN = re.compile(
    r"\s+|\d+(?:\.\d+)?(?:e[+-]?\d+)?|[A-Za-z]+\d*|<=|>=|!=|==|:=|->|<-|=>|\|\||\.\.\.|''|[-+*/^_'|<>=()\[\]{},;:.~!#]"
)

# In prose a Greek name before a hyphen is the same letter as in a formula: mu-strongly convex.
HYPHENED = re.compile(
    rf"(?<![\w`/-])({'|'.join(name for name in GREEK if name.islower() and len(name) > 1)})-(?=[a-zA-Z])"
)

Tokens = list[tuple[str, bool, bool]]


class NoFormula(ValueError):
    """What was given is not certainly a formula."""


def mathml(text: str, *, display: bool = False, words: bool = False) -> str:
    """Return a formula as MathML; what is none raises `NoFormula`. `words` lets words and full stops stand among the signs.

    Examples
    --------
    >>> mathml("mu > 0")
    '<math><mi>μ</mi><mo>&gt;</mo><mn>0</mn></math>'
    >>> mathml("certify.curves")
    Traceback (most recent call last):
    handbook.mathematics.NoFormula: certify
    """
    tokens = _tokens(text)
    rows, position = [], 0
    while position < len(tokens):
        row, position = _item(tokens, position, words)
        rows.append(row)
    block = ' display="block"' if display else ""
    return f"<math{block}>{''.join(rows)}</math>"


def rendered(markdown: str) -> str:
    """Return a page of Markdown whose inline code and indented blocks are formulas where they certainly are."""
    lines, block, fenced = [], [], False
    for line in [*markdown.split("\n"), ""]:
        fenced ^= line.startswith("```")
        indented = line.startswith("    ") and not fenced and bool(line.strip())
        after_text = bool(lines) and lines[-1].strip() != ""
        if indented and (block or not after_text):
            block.append(line)
            continue
        if block:
            lines += _block(block)
            block = []
        lines.append(line if fenced else _prose(line))
    return "\n".join(lines[:-1])


def _prose(line: str) -> str:
    """Return a line of text with its formulas: inline code, and Greek names before a hyphen where no code is."""
    parts = re.split(r"((?<!`)`[^`\n]+`(?!`))", line)
    letters = (HYPHENED.sub(lambda found: mathml(found[1]) + "-", part) for part in parts[::2])
    formulas = (re.sub(r"`([^`\n]+)`", _inline, part) for part in parts[1::2])
    return "".join(text for pair in zip_longest(letters, formulas, fillvalue="") for text in pair)


def _inline(found: re.Match[str]) -> str:
    try:
        return mathml(found[1])
    except NoFormula:
        return found[0]


def _block(lines: list[str]) -> list[str]:
    """Return an indented block with a formula a line; as it stands if one of its lines is none."""
    try:
        formulas = [mathml(line.strip(), display=True, words=True) for line in lines]
    except NoFormula:
        return lines
    if not any(re.search(r"[=<>]|\|\|", line) for line in lines):
        return lines
    return ['<div class="formula">', *formulas, "</div>"]


def _tokens(text: str) -> Tokens:
    """Return the signs of a formula, each with whether a space stands before and behind it."""
    found, position = [], 0
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            raise NoFormula(text[position])
        found.append(match[0])
        position = match.end()
    kept: Tokens = []
    for place, token in enumerate(found):
        if not token.isspace():
            before = place == 0 or found[place - 1].isspace() or found[place - 1] in "([{,"
            behind = place + 1 == len(found) or found[place + 1].isspace() or found[place + 1] in ")]},.^_'"
            kept.append((token, before, behind))
    return kept


def _item(tokens: Tokens, position: int, words: bool) -> tuple[str, int]:
    """Return the sign at a position with what is lowered and raised beside it, and the position behind."""
    base, position = _atom(tokens, position, words)
    lowered = raised = None
    while position < len(tokens) and tokens[position][0] in ("_", "^", "'", "''"):
        sign = tokens[position][0]
        if sign in ("'", "''"):
            # In w_S' the table has the prime, not the weights.
            if lowered is not None and raised is None:
                lowered += f"<mo>{SIGNS[sign]}</mo>"
            else:
                raised = (raised or "") + f"<mo>{SIGNS[sign]}</mo>"
            position += 1
            continue
        script, position = _script(tokens, position + 1, words)
        if sign == "_":
            lowered = (lowered or "") + script
        else:
            raised = (raised or "") + script
    if lowered is not None and raised is not None:
        return f"<msubsup>{base}<mrow>{lowered}</mrow><mrow>{raised}</mrow></msubsup>", position
    if lowered is not None:
        return f"<msub>{base}<mrow>{lowered}</mrow></msub>", position
    if raised is not None:
        return f"<msup>{base}<mrow>{raised}</mrow></msup>", position
    return base, position


def _script(tokens: Tokens, position: int, words: bool) -> tuple[str, int]:
    """Return what is raised or lowered: one sign, with its own sign before it, or what braces hold."""
    if position >= len(tokens):
        raise NoFormula("nothing is raised")
    sign = ""
    if tokens[position][0] in "+-":
        sign = f"<mo>{SIGNS.get(tokens[position][0], tokens[position][0])}</mo>"
        position += 1
    if position < len(tokens) and tokens[position][0] == "{":
        inside, position = _until(tokens, position + 1, "}", words)
        return sign + inside, position
    atom, position = _atom(tokens, position, words)
    return sign + atom, position


def _until(tokens: Tokens, position: int, end: str, words: bool) -> tuple[str, int]:
    inside = []
    while position < len(tokens) and tokens[position][0] != end:
        item, position = _item(tokens, position, words)
        inside.append(item)
    if position >= len(tokens):
        raise NoFormula(f"no {end}")
    return "".join(inside), position + 1


def _atom(tokens: Tokens, position: int, words: bool) -> tuple[str, int]:
    if position >= len(tokens):
        raise NoFormula("nothing")
    token, before, behind = tokens[position]
    position += 1
    if token[0].isdigit():
        return f"<mn>{token}</mn>", position
    if token[0].isalpha():
        return _name(tokens, position, words)
    if token == "." and _is_a_place(tokens, position - 1):
        return "<mo>·</mo>", position
    if token in ("^", "_", "}", "'", "''") or (token in (".", ":", "#") and not words) or (token == "." and not behind):
        raise NoFormula(token)
    if token == "{":
        inside, position = _until(tokens, position, "}", words)
        return f"<mo>{{</mo>{inside}<mo>}}</mo>", position
    if token == "<" and before and not behind:
        return '<mo stretchy="false">⟨</mo>', position
    if (
        token == ">"
        and not before
        and (behind or position < len(tokens))
        and position > 1
        and not tokens[position - 2][2]
    ):
        return '<mo stretchy="false">⟩</mo>', position
    stretch = ' stretchy="false"' if token in ("(", ")", "[", "]", "|", "||") else ""
    return f"<mo{stretch}>{html.escape(SIGNS.get(token, token), quote=False)}</mo>", position


def _is_a_place(tokens: Tokens, position: int) -> bool:
    """Return whether a point stands for an argument that is left open, as in l(., z)."""
    sides = [tokens[place][0] if 0 <= place < len(tokens) else "" for place in (position - 1, position + 1)]
    return sides[0] in ("(", ",") and sides[1] in (",", ")")


def _name(tokens: Tokens, position: int, words: bool) -> tuple[str, int]:
    """Return a name: a letter, a Greek one, a function, a large sign, or a small word where those may stand."""
    token, before, behind = tokens[position - 1]
    letters = token.rstrip("0123456789")
    digits = token[len(letters) :]
    if token == "sqrt":
        if position < len(tokens) and tokens[position][0] == "(":
            inside, position = _until(tokens, position + 1, ")", words)
            return f"<msqrt>{inside}</msqrt>", position
        inside, position = _atom(tokens, position, words)
        return f"<msqrt>{inside}</msqrt>", position
    if token in LARGE:
        return f'<mo largeop="true">{LARGE[token]}</mo>', position
    if token == "grad":
        return "<mo>∇</mo>", position
    if token in FUNCTIONS and len(token) > 1:
        return f"<mi>{token}</mi><mspace width='.2em'/>", position
    sign = GREEK.get(letters) or (letters if len(letters) == 1 else None)
    if sign is not None:
        return (f"<msub><mi>{sign}</mi><mn>{digits}</mn></msub>" if digits else f"<mi>{sign}</mi>"), position
    if words and not digits:
        return f"<mtext>{'&nbsp;' * before}{token}{'&nbsp;' * behind}</mtext>", position
    raise NoFormula(token)
