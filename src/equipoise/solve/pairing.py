"""What is paired by type with a member of the vocabulary, and what to write where a partner is missing."""

from typing import TypeVar

from equipoise.errors import UnknownName

Partner = TypeVar("Partner")


def partner_of(member: object, partners: dict[type, type[Partner]], family: str) -> type[Partner]:
    """Return the class that does the array arithmetic of a loss or a penalty, or say which file to write.

    Examples
    --------
    >>> from equipoise.solve import losses
    >>> from equipoise.vocabulary.losses import named
    >>> partner_of(named("huber"), losses.members(), "losses").__name__
    'HuberArrays'
    """
    kind = type(member)
    if kind not in partners:
        file = f"src/equipoise/solve/{family}/{kind.__module__.rpartition('.')[2]}.py"
        raise UnknownName(
            f"the array arithmetic of {kind.__name__}",
            f"no class in equipoise.solve.{family} that says `of = {kind.__name__}`",
            f"write {file}, as CONTRIBUTING.md says",
        )
    return partners[kind]
