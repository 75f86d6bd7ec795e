"""The numbers that the paper prints in its text; its curves are not printed as numbers."""

# Section 4.2: columns, and rows "about".
COLUMNS, ROWS = 14, 3000
# Section 5.3 at epsilon 0.2: mean squared error of the square root of the weekly dose, and inversion.
EPSILON = 0.2
ORACLE_ERROR, FUNCTIONAL_ERROR = 1.82, 22.57
ORACLE_INVERSION, FUNCTIONAL_INVERSION = 0.45, 0.35
# Figure 7 at epsilon 0.5: share of the rows, error, inversion.
SHARES = ((0.1, 5.05, 0.36), (0.9, 2.9, 0.40))
# Figures 2 and 4: the largest gaps over the whole axis.
GAP = 0.1
# Sections 5 and 5.2: from which epsilon models are accurate.
ACCURATE = {"oracle-printed": 0.1, "printed-output": 0.1, "printed-functional": 5.0, "printed-tuned-output-r1": 0.5}

TOLERANCE_ERROR = 0.10
TOLERANCE_INVERSION = 0.10
# A gap of at most 0.1 is read as one between 0 and 0.2.
TOLERANCE_GAP = 1.0
TOLERANCE_SHARE = 0.05
# "n is about 3000".
TOLERANCE_ROWS = 0.15
