"""A schema that uses every key, for the tests that read and write schemas."""

EXAMPLE = """
schema_version = 1
n = 32561                       # the declared, public number of rows
vouched_by = "A. Officer"
vouched_on = 2026-11-16
missing = ["", "NA", "?"]
row_norm = 2.0

[target]
name = "income"
classes = ["<=50K", ">50K"]

[columns.age]
kind = "number"
bounds = [17, 90]
fill = 40
indicator = true

[columns.workclass]
kind = "category"
levels = ["Private", "State-gov", "?"]
unknown = "Private"
fill = "?"

[columns.id]
kind = "unused"
"""
