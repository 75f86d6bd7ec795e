"""Addresses of ledgers: what is refused as none, and what people may see of one.

What cannot be read is not repeated, in no error and on no page: any part of it may be a password.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from unicodedata import normalize
from urllib.parse import quote_plus, unquote

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError

from equipoise.errors import LedgerRefused

# Options of an address that everybody may see. Others may be secrets, such as keys, and are not shown: a server and its
# driver take many, and later ones more.
SHOWN_OPTIONS = {
    *("host", "hostaddr", "port", "dbname", "user", "service", "application_name", "client_encoding"),
    *("connect_timeout", "target_session_attrs", "load_balance_hosts", "tcp_user_timeout"),
    *("keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count"),
    *("sslmode", "sslnegotiation", "sslrootcert", "sslcert", "sslkey", "sslcrl", "sslcrldir", "sslsni"),
    *("sslcompression", "sslcertmode"),
    *("ssl_min_protocol_version", "ssl_max_protocol_version", "channel_binding", "require_auth"),
    *("gssencmode", "krbsrvname", "gsslib", "gssdelegation", "passfile", "replication"),
}
HIDDEN = "***"
# What a dataset's plain name has none of; whatever has one of them may be a mistyped address, with its password.
NEVER_IN_NAMES = frozenset(":@=#")
# What a server's address has before its host, and a file's path hardly ever.
_LOGIN = re.compile(r"[^/]*:[^/]*@")
# What separates a login or an option from the rest; a drive of Windows is none.
_ODD, _DRIVE = frozenset(":@;&=?"), re.compile(r"^/?[A-Za-z]:(?=[/\\])")
# A user or a host, and a host by its numbers.
_PLAIN, _NUMBERS, LARGEST_PORT = re.compile(r"[A-Za-z0-9_.-]*"), re.compile(r"[0-9a-fA-F:.]+"), 65535


def shown_path(path: str) -> str:
    """Return a file's path for people: all asterisks where it is none, and may be a mistyped address.

    Examples
    --------
    >>> shown_path("witness/people.json"), shown_path("postgresql:officer:secret@localhost")
    ('witness/people.json', '***')
    """
    return path if (NEVER_IN_NAMES.isdisjoint(path) and is_plain(path)) or os.path.exists(path) else HIDDEN


def is_plain(part: str) -> bool:
    """Return whether a path or a name has nothing of a login or an option in it, however that is spelled.

    Examples
    --------
    >>> is_plain("/srv/people 2026.db"), is_plain("/x.db;password=secret"), is_plain("officer%3Asecret")
    (True, False, False)
    """
    return _ODD.isdisjoint(normalize("NFKC", unquote(_DRIVE.sub("", part))))


def is_plain_url(url: sql.URL) -> bool:
    """Return whether a server's address is written so that nothing but its password and hidden options can be secret.

    Examples
    --------
    >>> is_plain_url(sql.make_url("postgresql://officer@localhost/budgets"))
    True
    >>> is_plain_url(sql.make_url("postgresql:///officer:secret@localhost/budgets"))
    False
    """
    options = [each for name, values in url.normalized_query.items() if name in SHOWN_OPTIONS for each in values]
    return (
        _PLAIN.fullmatch(url.username or "") is not None
        and (_PLAIN.fullmatch(url.host or "") is not None or _NUMBERS.fullmatch(url.host or "") is not None)
        and (url.port or 0) <= LARGEST_PORT  # more is a password in the place of a port
        and all(map(is_plain, (url.database or "", *options)))
    )


def require_file(place: str, dataset: str, remedy: str) -> None:
    """Refuse what is no plain file's path: a database in memory would forget its spends, and a login is a secret."""
    name = place.rstrip("/").rpartition("/")[2]
    if not place.startswith("/") or not name.strip():
        found = "an address without a file"
    elif ":memory:" in place.casefold() or place.casefold().startswith("/file:"):
        found = "a database in memory, or SQLite's own way to write one"
    elif "?" in place:
        found = "options after a question mark, which are not read"
    elif _LOGIN.search(f"{place}#{dataset}"):
        found = "what looks like user:password@host; it is not shown"
    else:
        return
    raise LedgerRefused("a ledger in a file, which keeps what it was told", found, remedy)


def home() -> Path:
    """Return the folder of the ledger that plain names are kept in."""
    try:
        return Path(os.environ.get("EQUIPOISE_HOME") or Path.home() / ".equipoise")
    except RuntimeError:
        found = "no home folder for this user"
        raise LedgerRefused("a folder for ledger.db", found, "set EQUIPOISE_HOME, or pass a ledger's URL") from None


def shown_address(url: sql.URL) -> str:
    """Return an address with asterisks for its password and for options that may be secrets."""
    hidden = {name: HIDDEN for name in url.query if name not in SHOWN_OPTIONS}
    # The password has asterisks already; in options they would be written as %2A.
    text = url.update_query_dict(hidden).render_as_string(hide_password=True)
    return text.replace(f"={quote_plus(HIDDEN)}", f"={HIDDEN}")


def secrets_in(url: sql.URL) -> list[str]:
    """Return what an address holds that nobody must see; of options not the shortest, which occur in any error."""
    options = [each for name, values in url.normalized_query.items() if name not in SHOWN_OPTIONS for each in values]
    return [str(url.password)] * bool(url.password) + [option for option in options if len(option) > 3]


def postgresql_url(address: str, dataset: str) -> sql.URL:
    """Return the URL of a server's database, or refuse what is none, or holds a password where it would be shown."""
    url = None
    with suppress(ArgumentError, ValueError):
        url = sql.make_url(address).set(drivername="postgresql+psycopg")
    # What follows an unescaped @, / or # in a password would pass for a host, a database or a dataset, and be shown.
    if url is None or "@" in address.partition("@")[2] + dataset or any("password" in name for name in url.query):
        asked = "an address postgresql://user@host/database#dataset"
        found = "one that cannot be read; it is not shown, as it may hold a password"
        remedy = "write special characters of a password as %40 and the like, or leave it to PGPASSWORD or ~/.pgpass"
        raise LedgerRefused(asked, found, remedy)
    return url
