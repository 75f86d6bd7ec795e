"""Public facts that seeded noise chose: prevalences and bounds for experiments, which no release may be planned for.

Whoever knows the seed takes the noise off them, and what is left tells of rows. So a domain remembers where they came
from, in every copy of it, and so does a schema, in its text too (`Schema.seeded`).
"""

from dataclasses import fields
from typing import TYPE_CHECKING

from equipoise.errors import InvalidParameter
from equipoise.vocabulary.facts import Domain

if TYPE_CHECKING:
    from equipoise.data.schema import Schema


class SeededDomain(Domain):
    """A domain some facts of which seeded noise chose: `replace`, `clone` and every copy keep the class.

    Examples
    --------
    >>> from dataclasses import replace
    >>> seeded = marked(Domain(1.0, classes=(0, 1), prevalence=(0.9, 0.1)))
    >>> seeded.prevalence, type(replace(seeded, row_norm=2.0)).__name__
    ((0.9, 0.1), 'SeededDomain')
    """


def marked(domain: Domain) -> SeededDomain:
    """Return the same facts, as seeded noise chose them."""
    return SeededDomain(**{fact.name: getattr(domain, fact.name) for fact in fields(Domain)})


def reopened(facts: "Domain | Schema", seeded: bool) -> "Domain | Schema":
    """Return the domain that a certificate states, or a folder's schema, for whoever fits again with what was read.

    Where a prevalence came from no certificate says: beside a seeded release it is taken for a seeded one.

    Examples
    --------
    >>> published = Domain(1.0, classes=(0, 1), prevalence=(0.9, 0.1))
    >>> type(reopened(published, seeded=False)).__name__, type(reopened(published, seeded=True)).__name__
    ('Domain', 'SeededDomain')
    """
    if not isinstance(facts, Domain):
        return facts.reopened(seeded)
    return marked(facts) if seeded and facts.prevalence is not None else facts


def domain_for(domain: Domain, seeded: bool) -> Domain:
    """Return the facts that a plan is made for; those that seeded noise chose are refused, but for a seeded run.

    Examples
    --------
    >>> domain_for(marked(Domain(1.0, classes=(0, 1))), seeded=True) == Domain(1.0, classes=(0, 1))
    True
    >>> domain_for(marked(Domain(1.0, classes=(0, 1))), seeded=False)
    Traceback (most recent call last):
    equipoise.errors.InvalidParameter: asked: public facts for a release; found: a prevalence or bounds that a seeded \
run chose, for experiments only; to do: choose them without a seed, from facts that have none of them yet, or declare \
published ones in a domain or a schema of your own; in Python an experiment passes random_state here too
    """
    if not isinstance(domain, SeededDomain):
        return domain
    if not seeded:
        raise InvalidParameter(
            "public facts for a release",
            "a prevalence or bounds that a seeded run chose, for experiments only",
            "choose them without a seed, from facts that have none of them yet, or declare published ones in a domain "
            "or a schema of your own; in Python an experiment passes random_state here too",
        )
    return Domain(**{fact.name: getattr(domain, fact.name) for fact in fields(Domain)})
