"""`equipoise reproduce intrinsic-privacy`: every table and figure of the paper, for either start."""

from equipoise_studies.data import ADULT, COVERTYPE, MNIST
from equipoise_studies.frame import Outcome, Session, Study

NOTICE = (
    "These are measurements, not certificates. An epsilon on this page says how private SGD would be if its own "
    "randomness were Gaussian noise that does not depend on the data. That is false, and for a fixed start the true "
    "delta is 1: the last section says why. Release no model on these figures."
)


def run(session: Session) -> Outcome:
    """Measure every claim."""
    # JAX and the rest are loaded when a study is run, not when studies are listed.
    from equipoise_studies.intrinsic_privacy import grids, judged, measure, sections

    found = tuple(measure.measure(session, source) for source in grids.MAIN)
    others = tuple(measure.read_otherwise(session, source) for source in grids.OTHERS)
    trained = tuple(measure.measure_network(session, network) for network in grids.NETWORKS)
    claims = (
        *(claim for each in found for claim in judged.of_source(each)),
        *judged.across(found),
        *(claim for each in trained for claim in judged.networks(each)),
        *(claim for each in others for claim in judged.readings(each)),
        *judged.contradictions(found),
    )
    if session.quick:
        claims = tuple(claim for claim in claims if not judged.needs_whole_grid(claim))
    return Outcome(claims, tuple(sections.all_sections(found, others, trained)))


STUDY = Study(
    "intrinsic-privacy",
    "The intrinsic privacy of SGD, measured",
    'S. L. Hyland and S. Tople, "On the Intrinsic Privacy of Stochastic Gradient Descent", on public data.',
    NOTICE,
    run,
    (MNIST, COVERTYPE, ADULT),
)
