"""A CSV file: its header, every line, and the rows that a schema makes of them."""

from fuzz.mutation import lines
from fuzz.sample_tables import read_whole
from fuzz.written import written

SHARE = 0.3

mutate = lines


def examples() -> list[bytes]:
    """Return small tables with quotes, blank lines and other line ends."""
    return [
        b"age,job,ill\n31,nurse,0\n,none,1\n7.5,x,1\n1e300,,0\n",
        b'age,job,ill\r\n31,"nurse",0\r\n"3",none,1\r\n\r\n"a ""b""",x,1\r\n',
        b"\xef\xbb\xbfa,b\n1,2\n\n3,4",
    ]


def read(data: bytes) -> None:
    """Read it from a file."""
    read_whole(written(data, "table.csv"))
