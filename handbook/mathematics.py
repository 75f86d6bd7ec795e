"""Formulas of the proof pages, written so that a person can read them in a terminal, as MathML that a browser draws.

A formula stays in the order in which it was written: a slash stays a slash, since `mu/2 ||w||^2` has no second reading
on one line and would have one as a fraction. What changes is signs: Greek names, `<=`, norms, roots, sums, and what is
raised or lowered. What is not certainly a formula (a name of the code, a path) is left as it is.
"""

import html
import re

GREEK = {
    name: chr(code)
    for name, code in zip(
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho".split(),
        range(0x3B1, 0x3C2),
        strict=True,
    )
} | {"sigma": "σ", "tau": "τ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Delta": "Δ", "Gam": "Γ", "Gamma": "Γ"}
GREEK |= {"Phi": "Φ", "Sigma": "Σ", "Theta": "Θ", "Lambda": "Λ", "Omega": "Ω", "Psi": "Ψ", "Pi": "Π", "infinity": "∞"}
# Where a page has a use for these, it has none for the whole name.
GREEK |= {"gam": "γ", "lam": "λ", "Lam": "Λ", "th": "θ", "perp": "⊥"}

FUNCTIONS = frozenset(
    "ceil floor clip prox Proj sigmoid pull slope ln log log2 exp det tr cos sin cosh sinh tanh min max sup inf mean sign erf erfc E P Var Pr arg argmin argmax dim"
    " arccos arcsin Bin cot coth Cov diag dist expm1 fl Im Lap log1p mod rint softmax sup trace TV xor".split()
)
# Quantities that pages call by more than a letter, and words between signs; they alone make no formula, so that code stays code.
NAMES = frozenset(
    "before bound cells columns constant curvature decay deviation distance dropout error eps first Fn gap grade hi level lo Lo loss mech"
    " most move new noise normal pair part peak pen penalty radius Rc ratio recursion release share skip smallest sq step tolerance unit wins"
    " width worst".split()
)
WORDS = frozenset(
    "and batch changed chord earlier even events from hits lattice later multiset number of on op over pairs population pass refused slice"
    " terms the to training up".split()
)
AMONG_SIGNS = re.compile(r" (?:[-+*/<>=]|<=|>=|->|x) |[(^_|]|\w/\w|\w\+$")
# Arguments and identifiers of the code: step=0.1, slope_bound.
OF_CODE = re.compile(r"(?:^|[ (])[a-z_]+=\w|(?<![A-Za-z])([a-z]{3,})_([a-z]{4,})")
# Letters that stand side by side: two indices, two factors, an operator and what it is of.
PAIRS = frozenset(("ij", "ib", "im", "it", "DT"))
# With a bar over the letter.
BARRED = re.compile(r"([a-z])bar")
# d and what is integrated over.
DIFFERENTIAL = re.compile(rf"d([A-Zbeghknpqstuvwxyz]|{'|'.join(name for name in GREEK if len(name) > 1)})")
LARGE = {"sum": "∑", "prod": "∏", "product": "∏", "integral": "∫", "int": "∫"}
SIGNS = {
    "<=": "≤", ">=": "≥", "!=": "≠", "==": "=", "->": "→", "<-": "←", "=>": "⇒", "||": "‖", "...": "…", "*": "·", "-": "−", "'": "′",
    "''": "″", "~": "∼", ":=": ":=", "..": "…",
}  # fmt: skip
# Labels of results stand in a formula's line as they are.
LABEL = re.compile(r"[A-Z]\d+(?:\.[a-z]+)+|w\.p\.|log1p|expm1")
TOKEN = re.compile(
    rf"\s+|\d+(?:\.\d+)?(?:e[+-]?\d+)?|{LABEL.pattern}|[A-Za-z]+\d*"
    r"|<=|>=|!=|==|:=|->|<-|=>|\|\||\.\.\.?|''|[-+*/^_'|<>=()\[\]{},;:.~!#]"
)
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
# Where a line begins a paragraph of its own: a heading, a row of a table, a point of a list, a comment. A number but the
# first does so only in a list.
BEGINS = re.compile(r"\s*(?:#+ |\| |[-*+] |1[.)] |<!--|$)")
POINT = re.compile(r"(?:> ?)*\s*(?:[-*+]|\d+[.)]) ")
QUOTED = re.compile(r"(?:> ?)*")

# In prose a Greek name before a hyphen is the same letter as in a formula: mu-strongly convex.
HYPHENED = re.compile(
    rf"(?<![\w`/-])({'|'.join(name for name in GREEK if name.islower() and len(name) > 1)})-(?=[a-zA-Z])"
)

Tokens = list[tuple[str, bool, bool]]
SPACE = "<mspace width='.2em'/>"


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
    plain = [token for token, _, _ in tokens if token in NAMES | WORDS]
    of_code = OF_CODE.search(text)
    if plain and not words and (not AMONG_SIGNS.search(text) or (of_code and of_code[1] not in GREEK)):
        raise NoFormula(plain[0])
    rows, position = [], 0
    while position < len(tokens):
        row, position = _item(tokens, position, words)
        rows.append(row)
    block = ' display="block"' if display else ""
    return f"<math{block}>{''.join(rows)}</math>"


def rendered(markdown: str) -> str:
    """Return a page of Markdown whose inline code and indented blocks are formulas where they certainly are."""
    written, fenced = [], False
    paragraph: list[str] = []
    block: list[str] = []

    def end() -> None:
        written.extend(_prose("\n".join(paragraph)).split("\n") if paragraph else ())
        written.extend(_block(block) if block else ())
        paragraph.clear()
        block.clear()

    for line in markdown.split("\n"):
        quote = QUOTED.match(line)
        assert quote is not None  # noqa: S101 - an empty one is found everywhere
        inside = line[quote.end() :]
        indented = inside.startswith("    ") and not fenced and bool(inside.strip())
        if line.startswith("```") or fenced:
            end()
            written.append(line)
            fenced ^= line.startswith("```")
        elif indented and not paragraph and (block or not written or not written[-1].strip("> ")):
            block.append(line)
        elif BEGINS.match(inside) or (paragraph and POINT.match(paragraph[0]) and POINT.match(inside)):
            end()
            paragraph.append(line)
            if not inside.strip():
                end()
        else:
            if block:
                end()
            paragraph.append(line)
    end()
    return "\n".join(written)


def _prose(paragraph: str) -> str:
    """Return a paragraph with its formulas: inline code, over lines too, and Greek names before a hyphen where no code is."""
    drawn, position = [], 0
    for code in CODE.finditer(paragraph):
        drawn += [_letters(paragraph[position : code.start()]), _inline(code)]
        position = code.end()
    return "".join([*drawn, _letters(paragraph[position:])])


def _letters(prose: str) -> str:
    return HYPHENED.sub(lambda found: mathml(found[1]) + "-", prose)


def _inline(found: re.Match[str]) -> str:
    if len(found[1]) > 1:
        return found[0]
    try:
        return mathml(re.sub(r"\s*\n(?:> ?)*\s*", " ", found[2]))
    except NoFormula:
        return found[0]


def _block(lines: list[str]) -> list[str]:
    """Return an indented block, also of a quotation, with a formula a line; as it stands if one of its lines is none."""
    quote = QUOTED.match(lines[0])
    assert quote is not None  # noqa: S101 - an empty one is found everywhere
    try:
        formulas = [_line(line[quote.end() :].strip()) for line in lines]
    except NoFormula:
        return lines
    if not any(re.search(r"[=<>+*/^_]|\|\||\bsum\b", line[quote.end() :]) for line in lines):
        return lines
    return [quote[0] + line for line in ('<div class="formula">', *formulas, "</div>")]


def _line(text: str) -> str:
    """Return a line of a block: what stands far apart, such as a condition or a label, does so in the drawing too."""
    try:
        parts = [mathml(part, display=True, words=True) for part in re.split(r" {3,}(?![<>=])", text)]
    except NoFormula:
        return mathml(text, display=True, words=True)
    return "".join(parts).replace('</math><math display="block">', "<mspace width='2em'/>")


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
    # What is lowered hangs on the name, and the space behind stays behind.
    space = SPACE if base.endswith(SPACE) else ""
    base = base.removesuffix(SPACE)
    lowered = raised = ""
    while position < len(tokens):
        sign, before, behind = tokens[position]
        # A sign at the foot of a name with nothing behind it is no operator: gap+ is another gap, P~ another law.
        stands_on = re.search(r"[\w)\]}|']$", tokens[position - 1][0]) and not before
        if stands_on and (sign == "~" or (sign in ("+", "-", "*") and behind)):
            if sign == "~":
                base = f"<mover><mrow>{base}</mrow><mo>∼</mo></mover>"
            else:
                raised += f"<mo>{'∗' if sign == '*' else SIGNS.get(sign, sign)}</mo>"
            position += 1
            continue
        if sign not in ("_", "^", "'", "''"):
            break
        position += 1
        if sign in ("'", "''"):
            # In w_S' the table has the prime, not the weights.
            if lowered and not raised:
                lowered += f"<mo>{SIGNS[sign]}</mo>"
            else:
                raised += f"<mo>{SIGNS[sign]}</mo>"
        elif sign == "^" and position < len(tokens) and tokens[position][0] in ("_", "'"):
            base = f"<mover><mrow>{base}</mrow><mo>^</mo></mover>"
        else:
            script, position = _script(tokens, position, words)
            if sign == "_":
                lowered += script
            else:
                raised += script
    if lowered and raised:
        return f"<msubsup>{_one(base)}<mrow>{lowered}</mrow><mrow>{raised}</mrow></msubsup>{space}", position
    if lowered:
        return f"<msub>{_one(base)}<mrow>{lowered}</mrow></msub>{space}", position
    if raised:
        return f"<msup>{_one(base)}<mrow>{raised}</mrow></msup>{space}", position
    return base + space, position


def _one(base: str) -> str:
    """Return what scripts hang on as one element."""
    return base if re.fullmatch(r"<(\w+)[^>]*>[^<]*</\1>", base) else f"<mrow>{base}</mrow>"


def _script(tokens: Tokens, position: int, words: bool) -> tuple[str, int]:
    """Return what is raised or lowered: one sign, with its own sign before it, or what braces hold."""
    if position >= len(tokens):
        raise NoFormula("nothing is raised")
    sign = ""
    if tokens[position][0] in "+-":
        sign = f"<mo>{SIGNS.get(tokens[position][0], tokens[position][0])}</mo>"
        alone = tokens[position][2]
        position += 1
        if alone:
            return sign, position
    if position < len(tokens) and tokens[position][0] == "{":
        inside, position = _until(tokens, position + 1, "}", words)
        return sign + inside, position
    atom, position = _atom(tokens, position, words)
    return sign + atom, position


def _until(tokens: Tokens, position: int, end: str, words: bool) -> tuple[str, int]:
    """Return what stands before the bracket that ends it; brackets within have ends of their own."""
    inside, open_ones = [], 0
    while position < len(tokens) and (open_ones or tokens[position][0] != end):
        if end == ")":
            open_ones += {"(": 1, ")": -1}.get(tokens[position][0], 0)
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
    if token[0].isalpha() and not (LABEL.fullmatch(token) and "." in token):
        return _name(tokens, position, words)
    if LABEL.fullmatch(token) and token not in FUNCTIONS:
        if not words and token != "w.p.":
            raise NoFormula(token)
        return f"<mtext>&nbsp;{token}&nbsp;</mtext>", position
    if token == "." and _is_a_place(tokens, position - 1):
        return "<mo>·</mo>", position
    apart = before and behind
    if (
        token in ("^", "_", "}", "'", "''")
        or (token == ":" and not words and not apart)
        or (token == "." and not (words and behind))
    ):
        raise NoFormula(token)
    if token == "#" and not words and (position == len(tokens) or tokens[position][0] != "{"):
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
    return (sides[0] in ("(", ",") and sides[1] in (",", ")")) or sides == ["||", "||"]


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
        return f"<mi>{token}</mi>{SPACE}", position
    if token == "in" and not words:
        return "<mo>∈</mo>", position
    if barred := BARRED.fullmatch(token):
        return f"<mover><mi>{barred[1]}</mi><mo>¯</mo></mover>", position
    if over := DIFFERENTIAL.fullmatch(token):
        return f"<mi>d</mi><mi>{GREEK.get(over[1], over[1])}</mi>", position
    sign = GREEK.get(letters) or (letters if len(letters) == 1 else None)
    if sign is not None:
        return (f"<msub><mi>{sign}</mi><mn>{digits}</mn></msub>" if digits else f"<mi>{sign}</mi>"), position
    if token in PAIRS and not words:
        return "".join(f"<mi>{letter}</mi>" for letter in token), position
    if token in NAMES:
        return f"<mi>{token}</mi>{SPACE}", position
    if (words or token in WORDS) and not digits:
        return f"<mtext>{'&nbsp;' * before}{token}{'&nbsp;' * behind}</mtext>", position
    raise NoFormula(token)
