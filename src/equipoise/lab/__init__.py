"""The laboratory: it trains many times over and measures. What it finds are findings, never certificates."""
