"""What every format of an export must say: its name, and the bytes of a released model in it."""

from abc import ABC, abstractmethod
from typing import ClassVar

from equipoise.artifact.exported import Exported


class Export(ABC):
    """A format in which a released model is used elsewhere.

    Attributes
    ----------
    name : str
        What `equipoise export --to` calls it, and how its files end.
    is_text : bool
        Whether it can be printed.
    """

    name: ClassVar[str]
    is_text: ClassVar[bool] = True

    @abstractmethod
    def written(self, model: Exported) -> bytes:
        """Return the file; refuse a model that the format cannot hold, with what to do."""
