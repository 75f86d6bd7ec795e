"""Small workbooks, written by hand: a zip of the few parts that a reader needs, so that every one can be altered."""

import io
import zipfile
from xml.sax.saxutils import escape

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

# Styles 1 to 4: a date, a duration, a time of day, and a number with a unit.
STYLES = (
    f'<styleSheet xmlns="{MAIN}"><numFmts><numFmt numFmtId="164" formatCode="[h]:mm:ss"/>'
    '<numFmt numFmtId="165" formatCode="0.0 &quot;days&quot;"/></numFmts>'
    '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/>'
    '<xf numFmtId="164"/><xf numFmtId="21"/><xf numFmtId="165"/></cellXfs></styleSheet>'
)


def cell(value):
    """Return a cell as text, number, truth value or nothing; what begins with < is one as it is."""
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return value if value.startswith("<c") else f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def sheet_data(rows):
    """Return the XML of rows, one after the other; a text is XML already."""
    written = (row if isinstance(row, str) else f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    return f"<sheetData>{''.join(written)}</sheetData>"


def parts_of(*rows, texts=(), book="", other_sheets=()):
    """Return the parts of a workbook by their names: its first sheet is called Table."""
    sheets = [("Table", rows), *other_sheets]
    named = "".join(
        f'<sheet name="{name}" sheetId="{place}" r:id="rId{place}"/>' for place, (name, _) in enumerate(sheets, start=1)
    )
    related = "".join(
        f'<Relationship Id="rId{place}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{place}.xml"/>'
        for place in range(1, len(sheets) + 1)
    )
    return {
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="rId1" Type="{RELATIONS}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}">{book}<sheets>{named}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}">{related}'
        f'<Relationship Id="rId90" Type="{RELATIONS}/sharedStrings" Target="/xl/sharedStrings.xml"/>'
        f'<Relationship Id="rId91" Type="{RELATIONS}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": STYLES,
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{"".join(texts)}</sst>',
        **{
            f"xl/worksheets/sheet{place}.xml": f'<worksheet xmlns="{MAIN}">{sheet_data(held)}</worksheet>'
            for place, (_, held) in enumerate(sheets, start=1)
        },
    }


def zipped(parts, packing=zipfile.ZIP_DEFLATED):
    """Return the bytes of a zip of these parts, always the same."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name), text, compress_type=packing)
    return sink.getvalue()


def workbook(*rows, **facts):
    """Return the bytes of a workbook."""
    return zipped(parts_of(*rows, **facts))
