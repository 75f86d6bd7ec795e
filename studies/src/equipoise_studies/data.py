"""Public datasets of the studies: a folder of Parquet files, and where to get a file that is missing."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipoise.errors import InvalidData, InvalidParameter

VARIABLE = "EQUIPOISE_DATA"
SAY_WHERE = f"pass --data FOLDER, or set {VARIABLE}"


@dataclass(frozen=True)
class Dataset:
    """A public dataset: its file in the folder, and where the original is.

    Examples
    --------
    >>> ADULT.file
    'adult.parquet'
    """

    name: str
    file: str
    source: str
    address: str
    shape: str
    columns: tuple[str, ...] = ()

    def require(self, folder: Path) -> None:
        """Refuse a folder that lacks the file, or whose file lacks a column; nothing but its end is read."""
        self._open(folder, lambda parquet, path: parquet.read_schema(path))

    def read(self, folder: Path) -> Any:
        """Return the file as an Arrow table; a missing file, or one without the columns, is an error that says more."""
        return self._open(folder, lambda parquet, path: parquet.read_table(path))

    def _open(self, folder: Path, read: Callable[[Any, Path], Any]) -> Any:
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.parquet as pq  # type: ignore[import-untyped]

        path = folder / self.file
        try:
            found = read(pq, path)
        except FileNotFoundError:
            remedy = (
                f"get {self.source} ({self.address}) and save it there as {self.file}: {self.shape}; or {SAY_WHERE}"
            )
            raise InvalidParameter(f"the dataset {self.name} in {folder}", f"no {self.file}", remedy) from None
        except (OSError, ValueError, pa.ArrowException):  # a name that is no UTF-8, besides damaged bytes
            asked = f"the dataset {self.name} in {path}"
            remedy = f"write it again as Parquet: {self.shape}"
            raise InvalidData(asked, "a file that cannot be read as Parquet", remedy) from None
        names = getattr(found, "column_names", None) or found.names
        if lacking := [name for name in self.columns if name not in names]:
            asked = f"the columns of {self.name} in {path}"
            raise InvalidData(asked, f"no column {', '.join(lacking)}", f"write it again: {self.shape}")
        return found


UCI = "https://archive.ics.uci.edu"
ADULT = Dataset(
    "Adult",
    "adult.parquet",
    "Adult (Becker and Kohavi 1996) from the UCI Machine Learning Repository, adult.data and adult.test",
    f"{UCI}/dataset/2/adult",
    "the 14 columns in lower case with underscores, income as '>50K' or '<=50K', split as 'train' or 'test'",
    ("age", "workclass", "fnlwgt", "education", "education_num", "income", "split"),
)
COVERTYPE = Dataset(
    "Forest Covertype",
    "covertype.parquet",
    "Covertype (Blackard 1998) from the UCI Machine Learning Repository, covtype.data",
    f"{UCI}/dataset/31/covertype",
    "10 numeric columns, then 44 columns of 0 and 1, then cover_type as 1 .. 7",
    ("elevation", "cover_type"),
)
MNIST = Dataset(
    "MNIST",
    "mnist.parquet",
    "the MNIST database of LeCun, Cortes and Burges, its four IDX files",
    "http://yann.lecun.com/exdb/mnist",
    "image as 784 bytes a row, label as 0 .. 9, split as 'train' or 'test', training rows first",
    ("image", "label", "split"),
)

IWPC = Dataset(
    "IWPC warfarin",
    "iwpc_warfarin.parquet",
    "the warfarin table of the International Warfarin Pharmacogenetics Consortium (NEJM 2009;360:753), from ClinPGx",
    "https://www.clinpgx.org/page/IWPC",
    "one patient a row, names in snake case, missing cells null, flags as '0' and '1', genotypes such as 'A/G'",
    (
        "race",
        "age",
        "height_cm",
        "weight_kg",
        "therapeutic_dose_of_warfarin",
        "amiodarone_cordarone",
        "carbamazepine_tegretol",
        "phenytoin_dilantin",
        "rifampin_or_rifampicin",
        "cyp2c9_consensus",
        "vkorc1_m1639_consensus",
        "vkorc1_1173_consensus",
        "vkorc1_1542_consensus",
        "vkorc1_2255_consensus",
    ),
)
LASTFM_LIKES = Dataset(
    "LastFM Asia, liked artists",
    "lastfm_asia_features_first1800.parquet",
    "LastFM Asia (Rozemberczki and Sarkar 2020) from SNAP, lastfm_asia_features.json",
    "https://snap.stanford.edu/data/feather-lastfm-social.html",
    "id from 0 up, artists as a list of whole numbers from 0 to 7841; any number of users",
    ("id", "artists"),
)
LASTFM_COUNTRIES = Dataset(
    "LastFM Asia, countries",
    "lastfm_asia_target.parquet",
    "LastFM Asia (Rozemberczki and Sarkar 2020) from SNAP, lastfm_asia_target.csv",
    "https://snap.stanford.edu/data/feather-lastfm-social.html",
    "id from 0 up, country as a whole number from 0 up",
    ("id", "country"),
)
KHAN = Dataset(
    "Khan gene expression",
    "khan_gene_expression.parquet",
    "the small round blue cell tumours of Khan et al. (Nature Medicine 2001), distributed with ISLR",
    "https://www.statlearning.com/resources-r",
    "one tissue a row: the columns gene_1 .. gene_2308 as numbers, tumour as 1 .. 4",
    ("gene_1", "tumour"),
)

NEWSGROUPS = Dataset(
    "20 Newsgroups, 18828 edition",
    "newsgroups20_18828_6groups.parquet",
    "20 Newsgroups (K. Lang) in J. Rennie's edition without duplicates, 20news-18828",
    "http://qwone.com/~jason/20Newsgroups",
    "group and text, a row a document, of alt.atheism, talk.religion.misc, comp.graphics, comp.windows.x, "
    "rec.sport.baseball and sci.crypt",
    ("group", "text"),
)
BOSTON = Dataset(
    "Boston housing",
    "boston_housing.parquet",
    "Boston housing (Harrison and Rubinfeld 1978) from StatLib",
    "http://lib.stat.cmu.edu/datasets/boston",
    "the 13 columns in lower case, 'black' as b, and medv",
    ("crim", "zn", "indus", "chas", "nox", "rm", "age", "dis", "rad", "tax", "ptratio", "b", "lstat", "medv"),
)


def data_folder(chosen: Path | None) -> Path:
    """Return the folder of datasets: the chosen one, or the one that EQUIPOISE_DATA names.

    Examples
    --------
    >>> data_folder(Path("no/such/folder"))
    Traceback (most recent call last):
    equipoise.errors.InvalidParameter: asked: a folder of public datasets; found: 'no/such/folder', which is no \
folder; to do: pass --data FOLDER, or set EQUIPOISE_DATA
    """
    named = str(chosen) if chosen is not None else os.environ.get(VARIABLE, "")
    if not named:
        raise InvalidParameter("a folder of public datasets", f"neither --data nor {VARIABLE}", SAY_WHERE)
    if not Path(named).is_dir():
        raise InvalidParameter("a folder of public datasets", f"{named!r}, which is no folder", SAY_WHERE)
    return Path(named)
