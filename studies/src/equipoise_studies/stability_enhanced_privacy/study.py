"""`equipoise reproduce stability-enhanced-privacy`: elastic nets, the noise they need, and what they select."""

from equipoise_studies.data import ADULT, KHAN, LASTFM_COUNTRIES, LASTFM_LIKES
from equipoise_studies.frame import Outcome, Session, Study

NOTICE = (
    "This page is about methods, on public data with seeded noise: no model on it is for release. Curves 'as printed' "
    "are the paper's mechanism, which is not epsilon-private. The paper's preparation looks at the rows that it "
    "protects, so nothing in it is certified. The best lambda is taken in hindsight, which is not private either."
)


def run(session: Session) -> Outcome:
    """Measure every claim."""
    # The product and its noise are loaded when a study is run, not when studies are listed.
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from equipoise_studies.stability_enhanced_privacy import audited, certified, judged, measure, sections

    # Thousands of small products: threads of the linear algebra would wait for one another.
    with threadpool_limits(1):
        found = measure.measure(session)
        products = tuple(certified.certify(session, each) for each in found if each.preparation == "public")
        audits = audited.audits(session)
    claims = tuple(judged.all_claims(found, products, audits))
    return Outcome(claims, tuple(sections.all_sections(found, products, audits)))


STUDY = Study(
    "stability-enhanced-privacy",
    "Stability-enhanced privacy: elastic nets and feature selection",
    'L. Watson, B. Rozemberczki and R. Sarkar, "Stability Enhanced Privacy and Applications in Private Stochastic '
    'Gradient Descent", on public data.',
    NOTICE,
    run,
    (ADULT, LASTFM_LIKES, LASTFM_COUNTRIES, KHAN),
)
