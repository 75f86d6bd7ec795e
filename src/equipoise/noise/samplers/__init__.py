"""Samplers, one file a law, found by the type of the law. Members are discovered from this folder."""

from equipoise.certify import laws
from equipoise.certify.laws import Law
from equipoise.errors import UnknownName
from equipoise.noise.samplers.base import Sampler
from equipoise.vocabulary.discovery import discover

__all__ = ["Sampler", "members", "sampler_of"]


def members() -> dict[type[Law], type[Sampler]]:
    """Return every sampler by the type of its law."""
    return discover(__name__, Sampler, key="of")


def sampler_of(law: str) -> Sampler:
    """Return the sampler of the law called `law`.

    Examples
    --------
    >>> type(sampler_of("laplace")).__name__
    'LaplaceSampler'
    """
    found = members().get(type(laws.named(law)))
    if found is None:
        remedy = f"write src/equipoise/noise/samplers/{law.replace('-', '_')}.py, a subclass of Sampler"
        raise UnknownName(f"a sampler of the law {law!r}", "none", remedy)
    return found()
