"""What the scripts of a state transfer use of option files: which group wins, which place counts."""

from __future__ import annotations

import pytest

from services.facts.transfer.sst_options import Given, Place, chosen, effective, pair_files, places


@pytest.mark.parametrize(
    ("given", "option", "used"),
    [
        ((("sst", "encrypt", "3"), ("sst", "encrypt", "4")), "encrypt", "4"),
        ((("mysqld", "encrypt", "2"), ("sst", "encrypt", "4")), "encrypt", "2"),
        ((("mariabackup", "encrypt", "3"),), "encrypt", "3"),
        ((("sst", "encrypt", ""), ("xtrabackup", "encrypt", "1")), "encrypt", "1"),
        ((("mysqld", "tca", "/a"), ("mariabackup", "tca", "/b")), "tca", None),
        ((("mariabackup", "inno_backup_opts", "x"),), "inno-backup-opts", "x"),
        ((), "compressor", None),
    ],
)
def test_that_the_group_the_scripts_look_into_first_wins(given: tuple[Given, ...], option: str, used: str) -> None:
    assert effective(given, option) == used


def test_that_the_servers_own_certificates_win_over_those_of_sst_unless_sst_names_the_old_way() -> None:
    own = (("mysqld", "ssl_ca", "/m/ca"), ("mysqld", "ssl_cert", "/m/c"), ("mysqld", "ssl_key", "/m/k"))
    new = (("sst", "ssl_ca", "/s/ca"), ("sst", "ssl_cert", "/s/c"), ("sst", "ssl_key", "/s/k"))
    old = (("sst", "tca", "/t/ca"), ("sst", "tcert", "/t/c"), ("sst", "tkey", "/t/k"))
    assert pair_files((*own, *new)) == ("/m/ca", "/m/c", "/m/k")
    assert pair_files(new) == ("/s/ca", "/s/c", "/s/k")
    assert pair_files((*own, *new, *old)) == ("/t/ca", "/t/c", "/t/k")
    assert pair_files((*own, old[0])) == ("/t/ca", "", "")


def test_that_each_place_of_an_option_is_found_with_its_file_and_line() -> None:
    files = (
        ("/etc/my.cnf", "[mysqld]\nencrypt=9\n[sst]\n# encrypt = 1\nencrypt = '3' # why\n"),
        ("/etc/my.d/b.cnf", "[mariabackup]\nopen-files-limit=9\n[sst]\nencrypt=4\nno-value\n"),
    )
    assert places(files) == (
        Place("/etc/my.cnf", "sst", "encrypt", "3", 5),
        Place("/etc/my.d/b.cnf", "mariabackup", "open_files_limit", "9", 2),
        Place("/etc/my.d/b.cnf", "sst", "encrypt", "4", 4),
        Place("/etc/my.d/b.cnf", "sst", "no_value", "", 5),
    )
    assert chosen((("sst", "encrypt", "4"),), ("encrypt", "tca")) == {"encrypt": "4", "tca": None}
