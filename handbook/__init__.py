"""The documentation site: docs/ with mathematics, executed examples, a reference, the evidence and the house."""
