"""Is this claim true? Theorems, laws of noise, curves, claims, the certificate and its check; rows are never seen here.

Together with `vocabulary` this is the trusted base: what a check executes needs the standard library and mpmath alone.
Both folders import relatively, because the same files also ship as the package `equipoise_verify`.
"""
