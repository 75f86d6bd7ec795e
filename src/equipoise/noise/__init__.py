"""Where randomness comes from: exact samplers fed by the operating system, or a seeded source for experiments.

A law's sampler has a file in `samplers`, paired with the law by type. Exact ones never round before they have added.
"""

from equipoise.noise.source import COINS, ExactSource, NoiseSource, SeededSource, noise_source

__all__ = ["COINS", "ExactSource", "NoiseSource", "SeededSource", "noise_source"]
