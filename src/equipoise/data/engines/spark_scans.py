"""DataFrames that are nothing but Parquet files: found by Spark's own plan, so that workers can read the files.

Spark turns a DataFrame's columns into rows and rows into Arrow's columns, which costs many times what reading does. A
frame whose plan is a scan of plain files and a choice of columns has the rows of those files and no others, and nothing
is lost by reading them as files. Whatever is not known to be so stays a frame: filters, joins, other formats, columns
that folders' names tell, types that Spark and Arrow may read differently, settings that leave files out, frames that
Spark holds in its cache, files that this machine does not see, and all frames of Spark Connect, which has no plan here.
"""

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from equipoise.data.many_files import open_files
from equipoise.data.raw import RawTable

# Columns of these types have the same values for Spark and for Arrow.
PLAIN = ("bool", "int8", "int16", "int32", "int64", "float", "double", "string")
# Settings under which Spark leaves out what it cannot read.
LENIENT = (
    "spark.sql.files.ignoreCorruptFiles",
    "spark.sql.files.ignoreMissingFiles",
    # Columns would be found by numbers in the footer, not by name.
    "spark.sql.parquet.fieldId.read.enabled",
)


def scanned_files(frame: Any, schema: Any) -> RawTable | None:
    """Return the files that a DataFrame of this Arrow schema is a plain scan of, in the order of their names, or None.

    Examples
    --------
    >>> scanned_files("no frame", None) is None
    True
    """
    try:
        paths = _paths(frame)
        if not paths or not all(_holds(path, schema) for path in paths):
            return None
        return open_files(sorted(paths))
    except Exception:  # of PySpark's, Java's or the readers' own kinds: what is not known to be plain is a frame
        return None


def _paths(frame: Any) -> list[Path]:
    """Return the files of a frame's plan, none where it is more than a scan or where they lie elsewhere."""
    if any(frame.sparkSession.conf.get(name) != "false" for name in LENIENT):
        return []
    plan = frame._jdf.queryExecution().withCachedData()
    while _kind(plan) in ("Project", "SubqueryAlias"):
        if _kind(plan) == "Project" and any(
            _kind(plan.projectList().apply(place)) != "AttributeReference" for place in range(plan.projectList().size())
        ):
            return []
        plan = plan.child()
    if _kind(plan) != "LogicalRelation" or plan.catalogTable().isDefined():
        return []
    relation = plan.relation()
    if _kind(relation) != "HadoopFsRelation" or _kind(relation.fileFormat()) != "ParquetFileFormat":
        return []
    options = {relation.options().keys().toSeq().apply(place) for place in range(relation.options().size())}
    plain = _kind(relation.location()) == "InMemoryFileIndex" and relation.partitionSchema().isEmpty()
    if not plain or relation.bucketSpec().isDefined() or not options <= {"path", "paths"}:
        return []
    found = [urlsplit(name) for name in relation.location().inputFiles()]
    return [Path(unquote(each.path)) for each in found] if all(each.scheme == "file" for each in found) else []


def _kind(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _holds(path: Path, schema: Any) -> bool:
    """Return whether a file has the columns of a schema, each once and of the same plain type."""
    from pyarrow import parquet  # type: ignore[import-untyped]

    found = parquet.read_schema(path)
    return all(
        str(field.type) in PLAIN and found.names.count(field.name) == 1 and found.field(field.name).type == field.type
        for field in schema
    )
