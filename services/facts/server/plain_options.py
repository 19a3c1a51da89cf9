"""Which options of a donor's files a new node's file gets: those that are known, with values that are plain. Pure.

The scripts of an SST run `compressor` and its like as shell, and give `inno-backup-opts` to a program: whoever writes
the donor's files would run what he wants on the new host. A value that holds a line's end would be lines of its own.
Sources: MariaDB KB, "mariadb-backup SST Method"; Percona XtraDB Cluster manual, "XtraBackup SST Configuration".
"""

from __future__ import annotations

import re

_NUMBER = r"\d{1,12}[kKmMgGtT]?"
_WORD = r"[A-Za-z0-9_.:-]{1,64}"
_PATH = r"/[A-Za-z0-9_./@:+-]{1,255}"
_PACKER = (
    r"(?:/(?:usr/)?(?:local/)?bin/)?(?:gzip|pigz|zstd|pzstd|lz4|lz4c|qpress|bzip2|pbzip2|lbzip2|xz|pixz|lzop|snzip)"
    r"(?: -{1,2}[A-Za-z0-9]{1,20}(?:[= ]?\d{1,4})?){0,8}"
)
_SOCAT = r"(?:,[A-Za-z0-9_-]{1,32}(?:=[A-Za-z0-9_./:@+-]{1,128})?){0,16}"
_BACKUP = (
    r"(?:--(?:parallel|compress|compress-threads|compress-chunk-size|throttle|use-memory|galera-info|stream|rsync|no-lock|"
    r"kill-long-queries-timeout|ftwrl-wait-timeout|lock-ddl|lock-ddl-per-table|backup-locks|open-files-limit)"
    rf"(?:=(?:{_WORD}|{_NUMBER}))?(?: +|$)){{0,12}}"
)
_KNOWN = {
    **dict.fromkeys(("streamfmt", "transferfmt", "encrypt_algo", "encrypt_format", "tmode", "wsrep_sst_method"), _WORD),
    **dict.fromkeys(("encrypt", "rebuild", "time", "incremental", "use_extra", "compress", "backup_locks"), _WORD),
    **dict.fromkeys(("rlimit", "sst_initial_timeout", "sst_idle_timeout", "backup_threads", "parallel"), _NUMBER),
    **dict.fromkeys(("compress_threads", "throttle", "use_memory", "open_files_limit", "compress_chunk_size"), _NUMBER),
    **dict.fromkeys(
        ("tca", "tcert", "tkey", "tcapath", "ssl_ca", "ssl_cert", "ssl_key", "ssl_capath", "tmpdir"), _PATH
    ),
    **dict.fromkeys(("compressor", "decompressor"), _PACKER),
    **dict.fromkeys(("sockopt", "ncsockopt"), _SOCAT),
    **dict.fromkeys(("inno_backup_opts", "inno_apply_opts", "inno_move_opts"), _BACKUP),
    "progress": rf"[01]|{_PATH}",
}
"""Option of [sst] -> what its value may be."""
_METHODS = "rsync|rsync_wan|mysqldump|mariabackup|mariadb-backup|xtrabackup|xtrabackup-v2|clone|skip"
_OF_SERVER = {
    "wsrep_sst_method": _METHODS,
    "wsrep_provider": r"none|/[A-Za-z0-9_./-]{1,200}/libgalera(?:_enterprise)?_smm\.so",
}
_ENDS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def is_plain(section: str, option: str, value: str) -> bool:
    """Return whether an option may stand in a new node's file with this value, as a donor's files have it.

    Args:
        option: with underscores.
    """
    if _ENDS.search(value):
        return False
    if section != "sst":
        return re.fullmatch(_OF_SERVER.get(option, ".*"), value) is not None
    known = _KNOWN.get(option)
    return known is not None and re.fullmatch(known, value) is not None
