"""How texts in the cells of a sheet seem to be written: proposed to its owner with the reasons, and never decided here.

As with a CSV file (`equipoise.data.sniffing`), the first rows are looked at for a draft alone. A fit takes what is
confirmed in `[file]`, and looks at no row.
"""

import os
from dataclasses import replace

from equipoise.data.excel_table import NAMES, ExcelTable
from equipoise.data.files import open_table
from equipoise.data.raw import RawTable, listed
from equipoise.data.schema.file_format import COMMON_FILE
from equipoise.data.schema.numerals import COMMON, likeliest, rival
from equipoise.data.sniffing import HEAD_LINES, MARKS, Proposal, two_ways
from equipoise.errors import InvalidData


def propose_sheet(path: str | os.PathLike[str], sheet: str | None = None) -> Proposal | None:
    """Return how numbers in texts of a sheet seem to be written, and which sheet it is; None for what is no workbook.

    A sheet with values in columns that the first row does not name is refused: with a title above the names, nearly
    all of the table would be left out.

    Parameters
    ----------
    path : str or path
        The workbook; some of the first rows are read.
    sheet : str, optional
        The sheet, if its owner names it.
    """
    table: RawTable = open_table(path, file=replace(COMMON_FILE, sheet=sheet or ""))
    if not isinstance(table, ExcelTable):
        return None
    rows = table.first_rows(HEAD_LINES)
    width = len(table.names)
    nameless = sorted({column for row in rows for column in row if column >= width})
    if nameless:
        places = listed([str(column + 1) for column in nameless])
        raise InvalidData(
            f"a name in row 1 for every column of {table.source} that holds a value",
            f"values in columns without a name, at position {places}",
            f"{NAMES}; delete what stands beside the table",
        )
    texts = [value for row in rows for value in row.values() if isinstance(value, str) and MARKS.intersection(value)]
    numerals = likeliest(texts)
    other = rival(texts, numerals, delimiter="")
    seen = "of the first texts in cells most read as numbers so"
    reasons = {} if sheet is None else {"sheet": "as you say"}
    if other is not None:
        reasons |= two_ways(numerals, other)
    elif numerals != COMMON:
        reasons |= {"decimal": seen, "thousands": seen if numerals.thousands else "none was seen"}
    file = replace(table.file, decimal=numerals.decimal, thousands=numerals.thousands)
    return Proposal(file, reasons, () if other is None else ("decimal", "thousands"))
