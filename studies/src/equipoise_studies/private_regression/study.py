"""`equipoise reproduce private-regression`: private dosing models of warfarin, and what an attacker still learns."""

from equipoise_studies.data import IWPC
from equipoise_studies.frame import Outcome, Session, Study

NOTICE = (
    "This page is about methods, on public data with seeded noise. No model on it is for release, and no figure on it "
    "is medical advice. Mechanisms marked 'as printed' are the paper's; some of them are not private, and the page "
    "says which. What is measured of an attack bounds no other attack."
)


def run(session: Session) -> Outcome:
    """Measure every claim."""
    # The product and its noise are loaded when a study is run, not when studies are listed.
    from equipoise_studies.private_regression import consequences, judged, measure, sections

    found = measure.measure(session)
    effects = consequences.consequences(session, found)
    return Outcome(tuple(judged.all_claims(found)), tuple(sections.all_sections(found, effects)))


STUDY = Study(
    "private-regression",
    "Private dosing of warfarin: accuracy, risk, and what an attacker learns",
    'X. Wu, M. Fredrikson, W. Wu, S. Jha and J. F. Naughton, "Revisiting Differentially Private Regression: Lessons '
    'From Learning Theory and their Consequences", on the public IWPC table.',
    NOTICE,
    run,
    (IWPC,),
)
