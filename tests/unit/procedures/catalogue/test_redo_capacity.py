"""How long a crash recovery may take: by the redo log that the option files allow on each server version."""

from __future__ import annotations

import pytest

from services.procedures.catalogue.steps.restored.recovering import RECOVER_LIMIT_S, REDO_BYTES_S, recover
from tests.unit.procedures.host_of import host_of

GB = 2**30
MARIADB = "mariadbd  Ver 10.11.18-MariaDB for debian-linux-gnu"
OLD_MARIADB = "mysqld  Ver 10.4.34-MariaDB for debian-linux-gnu"
PERCONA = "mysqld  Ver 8.0.36-28.1 for Linux on x86_64 (Percona XtraDB Cluster)"


@pytest.mark.parametrize(
    ("text", "version", "options", "size"),
    [
        (MARIADB, (10, 11, 18), {"innodb_log_file_size": "200G"}, 200 * GB),
        (MARIADB, (10, 11, 18), {"innodb_log_file_size": "200G", "innodb_log_files_in_group": "4"}, 200 * GB),
        (OLD_MARIADB, (10, 4, 34), {"innodb_log_file_size": "200G"}, 400 * GB),
        (PERCONA, (8, 0, 36), {"innodb_log_file_size": "100G"}, 200 * GB),
        (PERCONA, (8, 0, 36), {"innodb_log_file_size": "100G", "innodb_log_files_in_group": "3"}, 300 * GB),
        (PERCONA, (8, 0, 36), {"innodb_log_file_size": "1G", "innodb_redo_log_capacity": "128G"}, 128 * GB),
        ("", (), {"innodb_log_file_size": "100G"}, 200 * GB),
    ],
)
def test_that_a_recovery_has_time_for_the_redo_log_of_its_server_version(
    text: str, version: tuple[int, ...], options: dict[str, str], size: int
) -> None:
    given = tuple(("mysqld", name, value) for name, value in options.items())
    host = host_of("n1", program_text=text, program_version=version, options_given=given, unit_name="mysql.service")
    assert recover(host).limit_s == size / REDO_BYTES_S


def test_that_a_recovery_without_a_known_redo_log_has_half_an_hour() -> None:
    assert recover(host_of("n1", unit_name="mysql.service")).limit_s == RECOVER_LIMIT_S
