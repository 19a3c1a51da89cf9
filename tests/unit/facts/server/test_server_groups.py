"""Which groups of option files are a server's, and in which order a server reads its files."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.facts.server.server_groups import Setting, in_reading_order, is_of_a_server, read_after
from tests.examples import examples

ROOT, FOLDER = "/etc/mysql/my.cnf", "/etc/mysql/conf.d"
OURS = f"{FOLDER}/80-ours.cnf"


def port(number: int) -> str:
    return f"[mysqld]\nport={number}\n"


def ports(found: tuple[Setting, ...]) -> list[str]:
    return [one.value for one in found]


@pytest.mark.parametrize(
    ("group", "version", "read"),
    [
        ("mysqld", (), True), ("Server", (8, 0, 46), True), ("galera", (10, 11, 18), True), ("client-server", (), True),
        ("mysqld-8.0", (8, 0, 46), True), ("mysqld-5.7", (8, 0, 46), False), ("mariadb-10.11", (10, 11, 18), True),
        ("mariadbd-11.8", (10, 11, 18), False), ("mysqld-8.0", (), True), ("mysqld-8.0.46", (8, 0, 46), False),
        ("galera-10.11", (10, 11, 18), False), ("mysqld_safe", (), False), (" mysqld", (), False),
        ("client", (), False),
    ],
)  # fmt: skip
def test_that_a_group_of_another_release_series_is_not_read(group: str, version: tuple[int, ...], read: bool) -> None:
    assert is_of_a_server(group, version) is read


def test_that_names_are_compared_without_loose_and_dashes() -> None:
    text = (
        "[client]\nport=1\n[mysqld]\nwsrep-cluster-address = 'gcomm://a'\n[client-server]\nloose_wsrep_new_cluster=1\n"
    )
    assert in_reading_order(((ROOT, text),)) == (
        Setting(ROOT, "mysqld", "wsrep_cluster_address", "gcomm://a"),
        Setting(ROOT, "client-server", "wsrep_new_cluster", "1"),
    )


def test_that_an_included_file_is_read_in_the_place_of_its_line() -> None:
    files = (
        (ROOT, f"{port(1)}!includedir {FOLDER}/\n{port(9)}!include /etc/last.cnf"),
        (f"{FOLDER}/9-b.cnf", port(3)),
        (f"{FOLDER}/10-a.cnf", port(2)),
        (f"{FOLDER}/a.b.cnf", port(4)),
        (f"{FOLDER}/old.cnf.bak", port(0)),
        ("/etc/last.cnf", port(10)),
        ("/etc/elsewhere.cnf", port(11)),
    )
    assert ports(in_reading_order(files)) == ["1", "2", "3", "4", "9", "10", "0", "11"]


def test_that_what_stands_behind_the_folders_line_is_read_after_our_file() -> None:
    files = ((ROOT, f"{port(1)}!includedir {FOLDER}\n{port(9)}"), (f"{FOLDER}/70-a.cnf", port(2)))
    assert ports(read_after(files, OURS)) == ["9"]
    assert ports(read_after((*files, (f"{FOLDER}/90-b.cnf", port(3))), OURS)) == ["3", "9"]
    assert ports(read_after((*files, (OURS, port(5))), OURS)) == ["9"]  # one of ours is there already


def test_that_a_folder_that_nothing_includes_leaves_the_order_of_the_names() -> None:
    files = ((ROOT, port(1)), (f"{FOLDER}/70-a.cnf", port(2)), (f"{FOLDER}/90-b.cnf", port(3)))
    assert ports(read_after(files, OURS)) == ["3"]
    assert ports(read_after(files[:1], OURS)) == ["1"]  # where no file of the folder is seen, any may be later


def test_that_files_that_include_each_other_end() -> None:
    files = (("/a.cnf", f"!include /b.cnf\n{port(1)}"), ("/b.cnf", f"!include /a.cnf\n!include /a.cnf\n{port(2)}"))
    assert len(in_reading_order(files)) < 1000


@given(
    st.lists(st.tuples(st.sampled_from([ROOT, OURS, "/x.cnf", f"{FOLDER}/a.cnf"]), st.text(max_size=60)), max_size=4)
)
@settings(max_examples=examples(200), deadline=None)
def test_that_no_text_becomes_a_setting_without_a_servers_group(files: list[tuple[str, str]]) -> None:
    for one in (*in_reading_order(files), *read_after(files, OURS)):
        assert is_of_a_server(one.section)
        assert any(f"[{one.section}" in text for path, text in files if path == one.path)
