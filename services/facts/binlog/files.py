"""Which files of a data folder are a binary log's, and which of its marks are MariaDB's. Pure.

MySQL manual, "log_bin" and "log_bin_index" (an extension of log_bin is cut off); MariaDB KB, "Using and Maintaining the
Binary Log", "Aria Storage Engine" (aria_log.00000001 is called as a binary log is), "Global Transaction ID".
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

from services.lines import lines_of

_FILE = re.compile(r"(?!aria_log\.)[\w.@-]{1,200}\.\d{6,10}")
_MARIADB_GTID = re.compile(r"\d+-\d+-\d+")


@dataclass(frozen=True, slots=True)
class BinlogFiles:
    """What of a data folder may be a binary log's: the index files, and the first log file; '' for none."""

    indexes: tuple[str, ...] = ()
    file: str = ""


def binlog_files(listing: str) -> BinlogFiles:
    """Return them out of `ls -1 FOLDER`; a relay log's are none."""
    names = [name for name in lines_of(listing) if "relay" not in name]
    there = tuple(name for name in names if name.endswith(".index"))
    return BinlogFiles(there, next((name for name in names if _FILE.fullmatch(name)), ""))


def index_of(log_bin: str) -> str:
    """Return the index's name by what option files give log_bin; '' for a mere switch."""
    return "" if log_bin.lower() in {"", "on", "off", "1", "0"} else f"{posixpath.splitext(log_bin)[0]}.index"


def is_of_mariadb(gtid: str) -> bool:
    """Return whether a GTID is MariaDB's: domain-server-sequence."""
    return _MARIADB_GTID.fullmatch(gtid) is not None
