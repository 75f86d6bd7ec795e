"""`equipoise verify`: whether a claim follows, and whether a release is as it was made."""

import json
import os
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.artifact.shipped import strangers
from equipoise.certify.folder import DONE, NOT_CHECKABLE, WITHDRAWN
from equipoise.cli.certificate_file import CertificatePath
from equipoise.cli.options import AsJson, PublicKeys, Quiet, TrustFile, trusted_keys
from equipoise.cli.progress import waiting
from equipoise.errors import InvalidParameter, MissingExtra

if TYPE_CHECKING:
    from equipoise.artifact.parts import Part
    from equipoise.artifact.verdict import Against, Verdict

COLOURS = {DONE: typer.colors.GREEN, WITHDRAWN: typer.colors.YELLOW, NOT_CHECKABLE: typer.colors.YELLOW}


def command(
    path: CertificatePath,
    key: PublicKeys = None,
    trust: TrustFile = None,
    ledger: Annotated[
        str | None, typer.Option(help="The ledger that must have paid for it: a dataset's name or a URL.")
    ] = None,
    export: Annotated[Path | None, typer.Option(help="An export of that ledger, instead of it.")] = None,
    witness: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE or URL", help="Who knows the ledger's history: a checkpoint, an export, a database of them."
        ),
    ] = None,
    witness_key: Annotated[
        list[Path] | None, typer.Option(metavar="FILE.pub", help="The public key of whoever signs checkpoints.")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="The limits of your site, which it must keep.")
    ] = None,
    release: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Of an evaluation: the released folder that it must be about.")
    ] = None,
    attack: Annotated[
        bool, typer.Option("--attack", help="Run the attack on simulated rows again that the page shows, and compare.")
    ] = False,
    rigorous: Annotated[
        bool,
        typer.Option("--rigorous", help="Enclose every inequality as well: nothing is granted for rounding."),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Check every byte of a release, its page and every inequality of its claim; who signed it, and what paid for it.

    An evaluation is checked likewise, and with --release whether it is about that folder.

    Exit code 1 if files, page or claim do not hold, 5 if what it rests on was withdrawn, 6 if this version cannot check
    it, 7 if it is not as it was signed, 8 if the key is not trusted, 9 if the ledger did not pay for it, 10 if the
    history is broken or not the one that witnesses know, 11 if it is beyond the policy.
    """
    from equipoise.artifact.verdict import examine
    from equipoise.evaluation.drawing import evaluation_page

    with waiting("checking", quiet or as_json):
        against = _against(key, trust, ledger, export, witness, witness_key, policy)
        against = replace(against, release=release)
        if attack:
            # The laboratory is loaded only where something is measured.
            from equipoise.lab.membership_attack import membership

            against = replace(against, attack=membership)
        found = examine(path, against, evaluation_page)
    # A member that the checker alone does not ship was trusted because it is installed here.
    trusted = list(strangers(found.found.certificate))
    enclosed, fallen = _enclosures(found) if rigorous else ((), ())
    found = replace(found, parts=(*found.parts, *fallen))
    (code, verdict), (first, *rest) = found.answer, found.lines()
    if as_json and not quiet:
        more = {"enclosed": enclosed} if rigorous else {}
        print(json.dumps({**found.plain(), "trusted": trusted, **more}, indent=2))
    elif not quiet:
        # A terminal alone gets the colour, and only if its owner wants one (no-color.org).
        coloured = False if os.environ.get("NO_COLOR") else None
        typer.secho(verdict, fg=COLOURS.get(code, typer.colors.RED), bold=True, nl=False, color=coloured)
        print(first.removeprefix(verdict), *rest, sep="\n")
        for member in trusted:
            print(f"  trusted: {member}, which Equipoise {version('equipoise')} does not ship")
        print(*enclosed, sep="\n", end="\n" if enclosed else "")
    raise typer.Exit(code)


def _enclosures(found: "Verdict") -> tuple[tuple[str, ...], tuple["Part", ...]]:
    """Return one line for every inequality in balls, and what they add to the check."""
    from equipoise.artifact.enclosing import enclosed

    try:
        lines, part = enclosed(found.found.certificate, found.answer[0])
    except ImportError as error:
        raise MissingExtra.of("inequalities in balls", error) from None
    return lines, (part,)


def _against(
    key: list[Path] | None,
    trust: Path | None,
    ledger: str | None,
    export: Path | None,
    witness: list[str] | None,
    witness_key: list[Path] | None,
    policy: Path | None,
) -> "Against":
    """Return what the options hold a release against; each is read before the release is."""
    from equipoise.artifact.policy import read_policy
    from equipoise.artifact.verdict import Against

    keys = trusted_keys(key, trust)
    if ledger is not None and export is not None:
        raise InvalidParameter("one ledger", "--ledger and --export", "pass one of them; --witness takes the other")
    if (witness or witness_key) and ledger is None and export is None:
        remedy = "pass --ledger or --export, too"
        raise InvalidParameter("a history that witnesses know", "neither --ledger nor --export", remedy)
    history = None
    if ledger is not None or export is not None:
        from equipoise.artifact.payment import exported_in, recorded_in

        history = recorded_in(ledger) if ledger is not None else exported_in(export or Path())
    return Against(
        keys=keys,
        history=history,
        witnesses=witness or (),
        witness_keys=witness_key or (),
        policy=None if policy is None else read_policy(policy),
    )
