"""Hostile input for every reader: `make fuzz`, and a small deterministic share of it in the tests."""
