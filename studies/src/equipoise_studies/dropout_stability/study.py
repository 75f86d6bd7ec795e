"""`equipoise reproduce dropout-stability`: dropout's stability measured again, and its theorems counted out."""

from equipoise_studies.data import ADULT, BOSTON, MNIST, NEWSGROUPS
from equipoise_studies.frame import Outcome, Session, Study

NOTICE = (
    "These are measurements, not certificates: a model that changes little here is no private one. The theorems on "
    "this page have unnamed constants or are false as printed. What holds of them is in Equipoise's catalogue."
)


def run(session: Session) -> Outcome:
    """Measure every claim."""
    # JAX and the rest are loaded when a study is run, not when studies are listed.
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from equipoise_studies.dropout_stability import certified, judged, measure, sections

    grid = measure.QUICK if session.quick else measure.FULL
    # Vectors are short: threads would wait for one another.
    with threadpool_limits(1):
        found = measure.measure(session, grid)
        section, aims = certified.certified_section(session)
    claims = (
        *(claim for each in found.texts for claim in judged.texts(each)),
        *judged.atheist(found.texts[0]),
        *judged.boston(found.boston),
        *judged.mnist(found.trained),
        *judged.dropped_nodes(found.nodes),
        *judged.descent(found.risks, found.neighbours, found.ends),
        *judged.adversary(found.examples),
        *judged.simplex(),
        *aims,
    )
    if session.quick:
        claims = tuple(claim for claim in claims if not judged.needs_whole_grid(claim))
    pages = sections.all_sections(
        found.texts,
        found.boston,
        found.trained,
        (found.nodes, found.learning),
        (found.risks, found.neighbours, found.ends),
        found.examples,
    )
    return Outcome(claims, (*pages, section))


STUDY = Study(
    "dropout-stability",
    "Dropout as a stabiliser, measured and corrected",
    'P. Jain, V. Kulkarni, A. Thakurta and O. Williams, "To Drop or Not to Drop: Robustness, Consistency and '
    'Differential Privacy Properties of Dropout", on public data.',
    NOTICE,
    run,
    (NEWSGROUPS, BOSTON, MNIST, ADULT),
)
