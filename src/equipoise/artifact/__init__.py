"""The released folder: model, certificate, schema, report and manifest, as plain text that anyone can read."""

from equipoise.artifact.folder import inspect, load, save

__all__ = ["inspect", "load", "save"]
