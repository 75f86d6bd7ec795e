"""Schemas: the public facts of a table, which somebody vouches for (docs/schema.md)."""

from equipoise.data.schema.columns import CategoryColumn, Column, NumberColumn, Person, Target
from equipoise.data.schema.file_format import FileFormat
from equipoise.data.schema.record import Schema

__all__ = ["CategoryColumn", "Column", "FileFormat", "NumberColumn", "Person", "Schema", "Target"]
