"""Adult by its code book: columns that are known before a row is read, so that a certificate can cover what they feed.

Levels that were taken from the rows would tell who is in the table: one person alone has the country
Holand-Netherlands, and without that person every row would have a column less.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# The largest value that each number can take.
ADULT_LARGEST = {
    "age": 90, "fnlwgt": 1490400, "education_num": 16, "capital_gain": 99999, "capital_loss": 4356,
    "hours_per_week": 99,
}  # fmt: skip
UNKNOWN = "?"
# The levels of the code book; three columns have unknown values.
ADULT_LEVELS: dict[str, tuple[str, ...]] = {
    "workclass": (
        UNKNOWN, "Federal-gov", "Local-gov", "Never-worked", "Private", "Self-emp-inc", "Self-emp-not-inc", "State-gov",
        "Without-pay",
    ),
    "education": (
        "10th", "11th", "12th", "1st-4th", "5th-6th", "7th-8th", "9th", "Assoc-acdm", "Assoc-voc", "Bachelors",
        "Doctorate", "HS-grad", "Masters", "Preschool", "Prof-school", "Some-college",
    ),
    "marital_status": (
        "Divorced", "Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent", "Never-married", "Separated",
        "Widowed",
    ),
    "occupation": (
        UNKNOWN, "Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial", "Farming-fishing",
        "Handlers-cleaners", "Machine-op-inspct", "Other-service", "Priv-house-serv", "Prof-specialty",
        "Protective-serv", "Sales", "Tech-support", "Transport-moving",
    ),
    "relationship": ("Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife"),
    "race": ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"),
    "sex": ("Female", "Male"),
    "native_country": (
        UNKNOWN, "Cambodia", "Canada", "China", "Columbia", "Cuba", "Dominican-Republic", "Ecuador", "El-Salvador",
        "England", "France", "Germany", "Greece", "Guatemala", "Haiti", "Holand-Netherlands", "Honduras", "Hong",
        "Hungary", "India", "Iran", "Ireland", "Italy", "Jamaica", "Japan", "Laos", "Mexico", "Nicaragua",
        "Outlying-US(Guam-USVI-etc)", "Peru", "Philippines", "Poland", "Portugal", "Puerto-Rico", "Scotland", "South",
        "Taiwan", "Thailand", "Trinadad&Tobago", "United-States", "Vietnam", "Yugoslavia",
    ),
}  # fmt: skip


def adult_columns(table: Any) -> NDArray[np.float64]:
    """Return 6 numbers over their largest value and every level of 8 columns as 0 or 1; an unknown level is none.

    Examples
    --------
    >>> len(ADULT_LARGEST) + sum(map(len, ADULT_LEVELS.values()))
    108
    """
    parts = [
        np.asarray(table[name].to_numpy(), np.float64)[:, None] / largest for name, largest in ADULT_LARGEST.items()
    ]
    for name, levels in ADULT_LEVELS.items():
        values = np.asarray(table[name].to_pylist())
        parts.append((values[:, None] == np.array(levels)).astype(np.float64))
    return np.hstack(parts)
