"""What leaves rows out of a binary log, or of what a server applies of others' rows. Pure.

A filter of databases leaves out a part of a transaction whose other tables pass: its number is there, so no hole shows
it (MariaDB 10.11.18, tried: `--binlog-ignore-db`, 40 rows). binlog_* filters are no variables before MariaDB 11.7 and
change only with a restart; replicate_* can be changed while a server runs (MariaDB KB, "Replication Filters").
"""

from __future__ import annotations

from services.facts.server.values import OFF_WORDS

_ANY = frozenset[str]()
LEAVING_OUT: tuple[tuple[str, int, frozenset[str]], ...] = (
    ("binlog_do_db", len("binlog_do"), _ANY),
    ("binlog_ignore_db", len("binlog_i"), _ANY),
    ("replicate_do_db", len("replicate_do_d"), _ANY),
    ("replicate_do_table", len("replicate_do_t"), _ANY),
    ("replicate_ignore_db", len("replicate_ignore_d"), _ANY),
    ("replicate_ignore_table", len("replicate_ignore_t"), _ANY),
    ("replicate_wild_do_table", len("replicate_wild_d"), _ANY),
    ("replicate_wild_ignore_table", len("replicate_wild_i"), _ANY),
    ("replicate_rewrite_db", len("replicate_rew"), _ANY),
    ("slave_exec_mode", len("slave_e"), frozenset({"strict"})),
    ("slave_skip_errors", len("slave_sk"), OFF_WORDS),
    ("slave_run_triggers_for_rbr", len("slave_run"), OFF_WORDS),
)
"""Each with the least that is typed of it, and its values that leave nothing out."""
_HARMLESS = {name: harmless for name, _, harmless in LEAVING_OUT}


def leaves_out(option: str, value: str) -> bool:
    """Return whether an option with this value leaves rows out, or passes over rows that do not fit."""
    harmless = _HARMLESS.get(option)
    said = value.strip(" \"'").lower()
    return harmless is not None and bool(said) and said not in harmless
