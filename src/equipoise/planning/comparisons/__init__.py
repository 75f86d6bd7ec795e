"""Theorems beside those that certify: the papers' own bounds and closed forms, for tables that compare."""
