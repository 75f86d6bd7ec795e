"""A workbook of Excel: a damaged zip, and damaged parts inside a whole one."""

import io
import random
import zipfile

from fuzz.mutation import binary, pieces
from fuzz.sample_tables import read_whole
from fuzz.written import written
from sample_workbooks import workbook, zipped

SHARE = 0.2


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Alter the bytes of the zip, or those of one of its parts."""
    if chance.random() < 0.2:
        return binary(data, chance)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        # Most of what can be wrong stands in the last part, which is a sheet.
        name = list(parts)[-1] if chance.random() < 0.7 else chance.choice(list(parts))
        return zipped(parts | {name: pieces(parts[name], chance)})
    except Exception:
        return binary(data, chance)


def examples() -> list[bytes]:
    """Return small tables with cells of every type."""
    texts = ("<si><t>nurse</t></si>", "<si><r><t>no</t></r><r><t>ne</t></r></si>")
    return [
        workbook(("age", "job", "ill"), (31, '<c t="s"><v>0</v></c>', 0), (None, "none", True), texts=texts),
        workbook(
            ("a", "b", "c", "d"),
            (
                '<c s="1"><v>43890</v></c>',
                '<c s="2"><v>1.5</v></c>',
                '<c t="e"><v>#N/A</v></c>',
                '<c t="s"><v>9</v></c>',
            ),
            '<row r="9" spans="1:4"><c r="D9" t="str"><f>A1</f><v>x</v></c><c r="XFD9"><v>1</v></c></row>',
            texts=texts,
        ),
    ]


def read(data: bytes) -> None:
    """Read it from a file."""
    read_whole(written(data, "table.xlsx"))
