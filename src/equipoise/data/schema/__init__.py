"""Schemas: the public facts of a table, which somebody vouches for (docs/schema.md)."""

from equipoise.data.schema.columns import CategoryColumn, Column, NumberColumn, Person, Target
from equipoise.data.schema.record import Schema

__all__ = ["CategoryColumn", "Column", "NumberColumn", "Person", "Schema", "Target"]
