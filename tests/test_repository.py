"""The repository keeps its own promises."""

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import pytest
from equipoise.proof import theorems

import equipoise as eq
from equipoise.vocabulary.methods import METHODS

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def test_the_lock_carries_hashes_and_no_index_address():
    text = (ROOT / "requirements-dev.lock").read_text()
    assert "://" not in text
    assert "--index-url" not in text
    pinned = re.findall(r"^[a-z0-9].*==", text, flags=re.MULTILINE)
    assert len(pinned) > 50
    assert text.count("--hash=sha256:") >= len(pinned)


def test_public_names_are_importable_and_documented():
    for name in eq.__all__:
        assert getattr(eq, name).__doc__, name
    assert set(dir(eq)) == set(eq.__all__)
    with pytest.raises(AttributeError, match="public names"):
        _ = eq.no_such_name


def test_importing_the_package_loads_no_data_library():
    program = "import sys, equipoise; assert not {'numpy', 'sklearn', 'opendp', 'sqlalchemy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_no_attic_and_no_god_file():
    for path in SOURCES:
        assert path.stem not in {"utils", "helpers", "common", "misc"}
        assert len(path.read_text().splitlines()) <= 450, path


@functools.cache
def nodes_of(path: Path) -> list[ast.AST]:
    """Return the syntax of a file, which several tests look at."""
    return list(ast.walk(ast.parse(path.read_text())))


@functools.cache
def lines_of_code(path: Path) -> int:
    """Count the lines that hold code: neither blank nor comment nor docstring."""
    text = path.read_text()
    prose = {
        line
        for node in nodes_of(path)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    lines = enumerate(text.splitlines(), start=1)
    return sum(1 for number, line in lines if line.strip() and not line.strip().startswith("#") and number not in prose)


# Modules of the trusted wings that play no part in a privacy claim: bounds on risk, and the model of a cost by which
# "auto" and alpha="public" choose among plans, each of which is proved by itself.
PROOF = ROOT / "src" / "equipoise" / "proof"
NO_CLAIM = {PROOF / name for name in ("risk.py", "reference.py", "trade_off.py", "flips.py")}
LEDGER = PROOF / "ledger"


# What only puts an argument into words: a mistake there misleads a reader, and leaves the claim as it is.
WORDS = {PROOF / name for name in ("explanation.py", "wording.py", "descent_words.py")}

# Packages whose members are found when the program runs: whoever reads a package reads all of them.
FAMILIES = ("vocabulary.losses", "vocabulary.penalties", "proof.mechanisms", "proof.perturbations")
MODULES = {
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__"): path for path in SOURCES
}


def module_of(node: ast.ImportFrom, path: Path) -> str:
    """Return the module that an import names, where it counts from the importing file as well."""
    if not node.level:
        return node.module or ""
    package = path.relative_to(ROOT / "src").parts[: -node.level]
    return ".".join([*package, node.module] if node.module else package)


# What the theorems that a route asks speak of; the others are asked by `eq.bounds` alone, or by other routes.
SPOKEN_OF = {
    "sgd": {"descent"},
    "phased": {"descent", "minimiser"},
    "noisy_sgd": set(),
    "output": {"minimiser"},
    "method": set(METHODS),
}


def read_for(route: str) -> set[Path]:
    """Return every file that a certificate of a route rests on: what is imported, members of families, theorems."""
    spoken = SPOKEN_OF.get(route, {"minimiser"})
    asked = {theorem.__module__ for theorem in theorems.members().values() if theorem.about in spoken}
    left = ["equipoise.certify.certificate", "equipoise.noise", f"equipoise.planning.kinds.{route}", *asked]
    read = set()
    while left:
        name = left.pop()
        if MODULES[name] in read:
            continue
        read.add(MODULES[name])
        left += [module for module in names_imported(MODULES[name]) if module in MODULES]
        if name.removeprefix("equipoise.") in FAMILIES:
            left += [module for module in MODULES if module.startswith(f"{name}.")]
    return read


@pytest.mark.parametrize("route", sorted(path.stem for path in (PROOF / "routes").glob("[!_b]*.py")))
def test_what_a_certificate_rests_on_can_be_read_in_an_afternoon(route):
    read = read_for(route)
    assert all({"vocabulary", "proof"} & set(path.parts) or path.name == "errors.py" for path in read)
    assert sum(lines_of_code(path) for path in read - NO_CLAIM - WORDS) <= 4200


def test_the_trusted_base_as_a_whole_stays_small():
    trusted = [path for path in SOURCES if {"vocabulary", "proof"} & set(path.parts) and path not in NO_CLAIM | WORDS]
    # No certificate rests on the ledger, which adds claims up: it is read apart.
    assert sum(lines_of_code(path) for path in trusted if LEDGER not in path.parents) <= 6500
    assert sum(lines_of_code(path) for path in LEDGER.glob("*.py")) <= 350


def test_what_plays_no_part_in_a_privacy_claim_is_imported_by_no_proof():
    importers = {path.stem: set() for path in NO_CLAIM}
    for path in (*PROOF.rglob("*.py"), *(ROOT / "src" / "equipoise" / "vocabulary").rglob("*.py")):
        for name, found in importers.items():
            if f"equipoise.proof.{name}" in names_imported(path):
                found.add(path.relative_to(PROOF).parts[0] if PROOF in path.parents else path.name)
    assert importers == {"risk": {"trade_off.py"}, "reference": {"routes"}, "trade_off": set(), "flips": set()}


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports, wherever in it."""
    found = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(module_of(node, path))
    return found


def names_imported(path: Path) -> set[str]:
    """Return the modules that a file imports, and every name that it takes from one, with the module before it."""
    taken = {
        f"{module_of(node, path)}.{alias.name}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return imported(path) | taken


def test_only_scikit_learns_public_api_is_imported():
    modules = {module for path in SOURCES for module in imported(path) if module.startswith("sklearn")}
    assert modules
    assert not [module for module in modules if any(part.startswith("_") for part in module.split("."))]


def test_theorems_import_no_numpy():
    for path in (PROOF / "theorems").glob("*.py"):
        assert not {module for module in imported(path) if module.split(".")[0] in {"numpy", "scipy"}}, path


def test_the_vocabulary_needs_the_standard_library_and_ships_under_any_name():
    for path in (ROOT / "src" / "equipoise" / "vocabulary").rglob("*.py"):
        outside = {module for module in imported(path) if not module.startswith("equipoise.")}
        assert {module.split(".")[0] for module in outside} <= sys.stdlib_module_names, path
        inside = imported(path) - outside
        assert all(module.split(".")[1] in {"vocabulary", "errors"} for module in inside), path
        absolute = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        assert not [node.module for node in absolute if not node.level and (node.module or "").startswith("equipoise")]


def test_every_loss_and_penalty_answers_without_numpy():
    program = """
import sys
from equipoise.vocabulary import constants, facts, losses, penalties
for name in losses.members():
    loss = losses.named(name)
    loss.pull(1.0, 1.0), loss.typical_slope(1.0), loss.gradient_diameter(1.0, 1.0, 1.0)
    loss.value((0.0,) * loss.outputs if loss.outputs > 1 else 0.0, 1.0)
    domain = facts.Domain(1.0, **({"classes": (0, 1)} if loss.task == "classification" else {"labels": (0.0, 1.0)}))
    for penalty in set(penalties.members()) - {"none"}:
        constants.constants(facts.Problem(loss, penalties.named(penalty, 0.1), domain))
assert not {"numpy", "scipy", "numba"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_links_of_the_pages_lead_somewhere():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), (page, target)


def test_pages_cited_by_the_code_exist():
    cited = {page for path in SOURCES for page in re.findall(r"docs/[A-Za-z0-9/_-]+\.md", path.read_text())}
    assert cited
    for page in cited:
        assert (ROOT / page).is_file(), page
