"""The door: the only place where a computation on rows meets noise and a certificate. One function, whatever leaves."""

from equipoise.release.door import Released, release

__all__ = ["Released", "release"]
