"""Schemas: the public facts of a table, which somebody vouches for (docs/schema.md)."""

from equipoise.data.schema.columns import Person, Target
from equipoise.data.schema.file_format import FileFormat
from equipoise.data.schema.kinds.base import Column
from equipoise.data.schema.kinds.category import CategoryColumn
from equipoise.data.schema.kinds.curve import CurveColumn
from equipoise.data.schema.kinds.date import DateColumn
from equipoise.data.schema.kinds.hashed import HashedColumn
from equipoise.data.schema.kinds.number import NumberColumn
from equipoise.data.schema.kinds.ordered import OrderedColumn
from equipoise.data.schema.kinds.yes_no import YesNoColumn
from equipoise.data.schema.pairs import Pair
from equipoise.data.schema.record import Schema

__all__ = [
    "CategoryColumn",
    "Column",
    "CurveColumn",
    "DateColumn",
    "FileFormat",
    "HashedColumn",
    "NumberColumn",
    "OrderedColumn",
    "Pair",
    "Person",
    "Schema",
    "Target",
    "YesNoColumn",
]
