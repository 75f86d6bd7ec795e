"""The laboratory: it trains many times over and measures. What it finds are findings, never certificates."""

from equipoise.lab.auditing import Finding, audit, lower_bound

__all__ = ["Finding", "audit", "lower_bound"]
