"""What add-node writes of a donor's option files: known options with plain values, and no line more."""

from __future__ import annotations

import pytest

from services.facts.server.plain_options import is_plain


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("streamfmt", "xbstream"), ("streamfmt", "mbstream"), ("transferfmt", "socat"), ("encrypt", "4"),
        ("compressor", "zstd -3 -T4"), ("compressor", "/usr/bin/pigz -p 4"), ("decompressor", "lz4 -d"),
        ("compressor", "zstd --fast=3"), ("sockopt", ",retry=30,pf=ip4"), ("sockopt", ""),
        ("inno_backup_opts", "--parallel=4 --compress --throttle=400"), ("inno_apply_opts", "--use-memory=1G"),
        ("tkey", "/etc/mysql/ssl/server-key.pem"), ("rlimit", "128M"), ("progress", "1"), ("time", "1"),
        ("sst_initial_timeout", "600"), ("tmpdir", "/srv/tmp"),
    ],
)  # fmt: skip
def test_that_what_people_write_is_copied(option: str, value: str) -> None:
    assert is_plain("sst", option, value)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("compressor", "sh -c 'curl x|sh'"), ("compressor", "rm -rf /var/lib/mysql"), ("compressor", "gzip; id"),
        ("compressor", "gzip $(id)"), ("compressor", "/tmp/gzip"), ("decompressor", "zstd -d | tee /etc/x"),
        ("compressor", "gzip -S /etc/passwd"), ("sockopt", ",exec:id"), ("sockopt", " EXEC:id"),
        ("inno_backup_opts", "--plugin-dir=/tmp"), ("inno_backup_opts", "--defaults-file=/tmp/x"),
        ("inno_apply_opts", "--parallel=4;id"), ("cpat", r".*"), ("tkey", "/etc/../tmp/$(id)"), ("progress", "|id"),
        ("wsrep_notify_cmd", "/tmp/x"), ("made_up", "1"), ("time", "1\n[mysqld]\nplugin_load=x"), ("rlimit", "1 id"),
    ],
)  # fmt: skip
def test_that_what_a_script_would_run_is_not_copied(option: str, value: str) -> None:
    """A donor's whole [sst] was written on the new host, and its scripts run words of it as shell."""
    assert not is_plain("sst", option, value)


@pytest.mark.parametrize(
    ("option", "value", "plain"),
    [
        ("sql_mode", "STRICT_TRANS_TABLES,NO_ZERO_DATE", True),
        ("sql_mode", "X\nplugin_load_add=evil", False),
        ("bind_address", "::\x85x", False),
        ("wsrep_sst_method", "mariabackup", True),
        ("wsrep_sst_method", "x;id", False),
        ("wsrep_sst_method", "/../../tmp/x", False),
        *(("wsrep_provider", f"/usr/lib/galera{p}.so", True) for p in ("/libgalera_smm", "4/libgalera_smm")),
        ("wsrep_provider", "/usr/lib64/galera-4/libgalera_smm.so", True),
        ("wsrep_provider", "/usr/lib64/galera-enterprise-4/libgalera_enterprise_smm.so", True),
        ("wsrep_provider", "/tmp/evil.so", False),
    ],
)
def test_that_a_value_of_the_servers_section_is_one_line_and_names_no_program_of_its_own(
    option: str, value: str, plain: bool
) -> None:
    assert is_plain("mysqld", option, value) is plain
