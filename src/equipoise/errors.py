"""Every exception of the product: what was asked, what was found, what to do.

Errors raised before a row is read may name parameters, shapes, data types and column names. After a row was read only
`PrivateFailure` is raised, and its text is a constant.
"""

from typing import Self

# What a person or the interpreter ends a program by. A guard on rows lets these pass and stops everything else, also
# what other languages raise beside `Exception`: a panic in Rust names values.
ENDINGS = (KeyboardInterrupt, SystemExit, GeneratorExit)


UNSPENT = "nothing was read and nothing was spent"

# The extra that installs a package, by the name that the package is imported by.
EXTRAS = {
    "numba": "fast",
    "llvmlite": "fast",
    "pyarrow": "files",
    "sqlalchemy": "ledger",
    "psycopg": "postgres",
    "altair": "report",
    "vl_convert": "report",
    "jax": "lab",
    "dask": "dask",
    "distributed": "dask",
    "pyspark": "spark",
    "onnx": "onnx",
    "flint": "rigorous",
}


class EquipoiseError(Exception):
    """The root of every error that Equipoise raises on purpose.

    Parameters
    ----------
    asked : str
        What the caller asked for, or what the library requires.
    found : str
        What was found instead.
    remedy : str
        What to do next.

    Examples
    --------
    >>> print(EquipoiseError("a positive epsilon", "epsilon=-1", "pass epsilon=1.0"))
    asked: a positive epsilon; found: epsilon=-1; to do: pass epsilon=1.0
    """

    def __init__(self, asked: str, found: str, remedy: str) -> None:
        self.asked = asked
        self.found = found
        self.remedy = remedy
        super().__init__(asked, found, remedy)

    def __str__(self) -> str:
        """Return the whole sentence that a user reads."""
        return f"asked: {self.asked}; found: {self.found}; to do: {self.remedy}"


class InvalidParameter(EquipoiseError, ValueError):
    """A public parameter is outside its range."""


class UnknownArgument(InvalidParameter, TypeError):
    """A constructor or a method was passed something that it does not take, as other libraries have it.

    Whoever moves from another library meets it first, in a notebook: it is told in three lines.

    Examples
    --------
    >>> print(UnknownArgument("arguments of Ridge: alpha", "tol", "leave it out"))
    asked: arguments of Ridge: alpha
    found: tol
    to do: leave it out
    """

    def __str__(self) -> str:
        """Return what was asked, what was found and what to do, a line each."""
        return f"asked: {self.asked}\nfound: {self.found}\nto do: {self.remedy}"


class DomainMissing(InvalidParameter):
    """No public facts about the rows were declared, and none are inferred from data."""


class UnknownName(InvalidParameter):
    """A loss, penalty, theorem, law, kind or solver of that name does not exist."""


class SchemaInvalid(InvalidParameter):
    """A schema has blanks where facts are needed, or faults; `faults` lists them, each with its place in the file."""

    faults: tuple[str, ...] = ()


class InvalidData(EquipoiseError, ValueError):
    """The shape, data type, column names or number of rows do not fit; never a value inside a row."""


class PlanMismatch(InvalidData):
    """The data has another shape than the certificate was planned for."""


class NoTheoremApplies(EquipoiseError, ValueError):
    """No certifying theorem covers the setting; the remedy lists what each of them lacks."""


class BudgetImpossible(EquipoiseError, ValueError):
    """No noise can meet the budget for this bound."""


class CertificateUnreadable(EquipoiseError, ValueError):
    """A certificate file is truncated, malformed, or from a newer schema."""


class NotCheckable(CertificateUnreadable):
    """A certificate of a schema that this version reads and cannot check."""


class UnknownMember(CertificateUnreadable):
    """A certificate rests on a member of a family (a kind, a loss, ...) that this version does not know.

    Examples
    --------
    >>> print(UnknownMember("kind 'novel'"))
    asked: a claim about what this version knows; found: kind 'novel', unknown here; to do: check it with the version \
that made it, or a newer one
    """

    def __init__(self, member: str) -> None:
        super().__init__(
            "a claim about what this version knows",
            f"{member}, unknown here",
            "check it with the version that made it, or a newer one",
        )


class ReleaseUnreadable(EquipoiseError, ValueError):
    """A released folder, or a file in it, is missing, malformed, altered or of a newer format."""


class ReleaseRefused(ReleaseUnreadable):
    """A released folder that a check refuses; `code` is the exit code by which `equipoise verify` says so."""

    def __init__(self, code: int, asked: str, found: str, remedy: str) -> None:
        super().__init__(asked, found, remedy)
        self.code = code


class KeyRefused(EquipoiseError, ValueError):
    """A key file is missing or malformed, of another kind, or readable by others; no secret is in the text."""


class OutputRefused(EquipoiseError, OSError):
    """A file or folder cannot be written there, or exists already; nothing was written."""


class ReleaseNotWritten(EquipoiseError, OSError):
    """A model was trained and its budget spent, but it could not be written where it was asked for."""


class LedgerError(EquipoiseError):
    """The ledger did not admit a spend; nothing was read."""


class LedgerUnreachable(LedgerError, OSError):
    """The ledger cannot be opened."""


class LedgerRefused(LedgerError, ValueError):
    """The ledger exists, but it does not take this kind of entry."""


class LedgerTampered(LedgerError, ValueError):
    """The recorded history does not hold together, so nothing more is admitted."""


class Overdraft(LedgerError, ValueError):
    """The spend is larger than what remains of the budget."""


class MissingExtra(EquipoiseError, ImportError):
    """What an extra of the distribution installs is not there, or cannot be loaded."""

    @classmethod
    def of(cls, asked: str, absent: ImportError | OSError | str, besides: str = "") -> Self:
        """Return the error with the line to type, from the package that is absent or from what importing it raised.

        What came with the plain distribution, or is there and cannot be loaded, has to be installed again. `besides`
        ends the remedy, as by saying that nothing was spent.

        Examples
        --------
        >>> print(MissingExtra.of("a model trained by SGD", "numba.extending"))
        asked: a model trained by SGD; found: numba is not installed; to do: pip install "equipoise[fast]"
        """
        name = absent if isinstance(absent, str) else str(getattr(absent, "name", None) or type(absent).__name__)
        package, found = name.partition(".")[0], f"{name}, which cannot be loaded"
        line = "install it again: pip install --force-reinstall equipoise"
        if package in EXTRAS and isinstance(absent, str | ModuleNotFoundError):
            found, line = f"{package} is not installed", f'pip install "equipoise[{EXTRAS[package]}]"'
        return cls(asked, found, "; ".join(filter(None, (line, besides))))


class TableUnreadable(EquipoiseError, OSError):
    """A table cannot be read to its end; the text is a constant, since rows were read.

    Examples
    --------
    >>> print(TableUnreadable())
    asked: the rows of a table; found: a table that cannot be read to its end; to do: check the disk and the file's \
checksum, or write the file again
    """

    def __init__(self) -> None:
        super().__init__(
            "the rows of a table",
            "a table that cannot be read to its end",
            "check the disk and the file's checksum, or write the file again",
        )

    def __reduce__(self) -> tuple[type, tuple[()]]:
        """Return how it is made again in another process: a worker's failure comes back as it is."""
        return type(self), ()


class PrivateFailure(EquipoiseError, RuntimeError):
    """Something failed after rows were read; the text says nothing about them.

    Examples
    --------
    >>> print(PrivateFailure())
    asked: a private model; found: a failure after the rows were read, whose cause is withheld because it may depend \
on them; to do: the budget, if one was bound, is spent; run the fit in a debugger on public data of the same shape
    """

    def __init__(self) -> None:
        super().__init__(
            "a private model",
            "a failure after the rows were read, whose cause is withheld because it may depend on them",
            "the budget, if one was bound, is spent; run the fit in a debugger on public data of the same shape",
        )

    def __reduce__(self) -> tuple[type, tuple[()]]:
        """Return how it is made again in another process: a worker's failure comes back as it is."""
        return type(self), ()


class FitNotCounted(UserWarning):
    """A process made a second private release, a fit or an evaluation, that neither a ledger nor an account counts."""


class PageNotDrawn(UserWarning):
    """A release was written without a page: what draws pages is not installed."""


class ScoresNotCovered(UserWarning):
    """An account counts the fits; what scikit-learn computes on the rows around them is covered by nothing."""
