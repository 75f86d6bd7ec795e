"""`equipoise reproduce nonsmooth-stability`: the bounds of the paper beside simulated distances and measured risks."""

from equipoise_studies.frame import Outcome, Session, Study

NOTICE = (
    "The bounds on this page are theorems, in the paper or in Equipoise's catalogue. The distances and risks are "
    "measurements on made-up losses and populations: they show that bounds are not broken there, and how near some "
    "come. They prove nothing about other data."
)


def run(session: Session) -> Outcome:
    """Measure every claim."""
    # Numba and the rest are loaded when a study is run, not when studies are listed.
    from equipoise_studies.nonsmooth_stability import judged, measure, sections

    grid = measure.QUICK if session.quick else measure.FULL
    found = [measure.simulate(rule, grid, session.report) for rule in measure.RULES]
    curves = measure.many_passes(grid, session.report)
    noisy = measure.noisy(grid, session.report)
    tried = [(measure.DRAWN, epsilon, delta) for delta in measure.DELTAS for epsilon in grid.epsilons]
    noises = []
    for done, setting in enumerate((*measure.NOISES, *tried)):
        session.report("noise of Algorithm 2", done, len(measure.NOISES) + len(tried))
        noises.append(measure.noise(*setting))
    session.report("noise of Algorithm 2", len(noises), len(noises))
    main, others = noises[: len(measure.NOISES)], noises[len(measure.NOISES) :]
    by_key = {each.rule.key: each for each in found}
    expected = by_key["replacement"].last["two-sided"].end
    claims = (
        *(claim for each in found for claim in judged.table(each)),
        *(judged.growth(rule.key, rule.name, measure.growth(rule)) for rule in measure.RULES if not rule.random),
        judged.hinge(),
        judged.one_pass(),
        *judged.failure_probability(expected, grid.n_samples, grid.n_steps),
        *judged.risk(curves),
        *judged.privacy(main, others),
        *judged.noisy_risk(noisy),
    )
    if session.quick:
        claims = tuple(claim for claim in claims if not judged.needs_whole_grid(claim))
    return Outcome(claims, tuple(sections.all_sections(found, curves, grid.shown, (main, others), noisy)))


STUDY = Study(
    "nonsmooth-stability",
    "Stability of SGD on losses with kinks, bounds against simulations",
    'R. Bassily, V. Feldman, C. Guzman and K. Talwar, "Stability of Stochastic Gradient Descent on Nonsmooth Convex '
    'Losses".',
    NOTICE,
    run,
)
