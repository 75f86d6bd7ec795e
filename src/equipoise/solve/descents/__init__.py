"""Descents: from gradients to weights, and over rows one batch at a time, by compiled loops."""
