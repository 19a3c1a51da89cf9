"""Editing option files: only the wanted lines change, and the server's reader sees what was wanted."""

from __future__ import annotations

import difflib
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.errors import BadInput
from services.option_values import bytes_of, text_of
from services.procedures.execute import option_edit
from services.procedures.execute.option_edit import canonical, edit_options, option_value
from tests.examples import examples

DEBIAN = """# The MariaDB configuration file

[client-server]
socket = /run/mysqld/mysqld.sock

# Galera
[mysqld]
wsrep-cluster-address = gcomm://10.0.0.1,10.0.0.2   # the group
  max_connections=100
innodb_buffer_pool_size = 1G
skip-name-resolve
innodb_buffer_pool_size = 2G

# about the next one
[mariadb]
!includedir /etc/mysql/conf.d/
"""


def read_options(text: str, section: str) -> dict[str, str]:
    """Return what a section sets, line by line as an edit reads them: a file that the server refuses is edited too."""
    lines = option_edit._parsed(bytes_of(text))
    found = (line for line in lines if line.name and line.section == section.lower())
    return {text_of(line.name): text_of(line.value or "") for line in found}


def changed(before: str, after: str) -> list[str]:
    return [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]


@pytest.mark.parametrize(
    ("section", "options", "lines"),
    [
        (
            "mysqld",
            (("wsrep_cluster_address", "gcomm://a"),),
            [
                "- wsrep-cluster-address = gcomm://10.0.0.1,10.0.0.2   # the group",
                "+ wsrep-cluster-address = gcomm://a   # the group",
            ],
        ),
        ("mysqld", (("max-connections", "7"),), ["-   max_connections=100", "+   max_connections=7"]),
        (
            "mysqld",
            (("innodb_buffer_pool_size", "3G"),),
            ["- innodb_buffer_pool_size = 2G", "+ innodb_buffer_pool_size = 3G"],
        ),
        (
            "mysqld",
            (("innodb_buffer_pool_size", None),),
            ["- innodb_buffer_pool_size = 1G", "- innodb_buffer_pool_size = 2G"],
        ),
        ("mysqld", (("skip_name_resolve", None),), ["- skip-name-resolve"]),
        ("mysqld", (("wsrep_sst_auth", "u:p#1;2"),), ['+ wsrep_sst_auth = "u:p#1;2"']),
        ("mariadb", (("server_id", "4"),), ["+ server_id = 4"]),
        ("sst", (("streamfmt", "mbstream"),), ["+ ", "+ [sst]", "+ streamfmt = mbstream"]),
        ("sst", (("streamfmt", None),), []),
        ("mysqld", (("max_connections", "100"),), []),
    ],
)
def test_that_only_the_wanted_lines_of_a_real_file_change(
    section: str, options: tuple[tuple[str, str | None], ...], lines: list[str]
) -> None:
    after = edit_options(DEBIAN, section, options)
    assert changed(DEBIAN, after) == lines
    assert edit_options(after, section, options) == after


def test_that_a_new_option_stands_after_the_sections_last_option_and_before_the_next_ones_comment() -> None:
    after = edit_options(DEBIAN, "mysqld", (("server_id", "4"),)).splitlines()
    at = after.index("server_id = 4")
    assert after[at - 1] == "innodb_buffer_pool_size = 2G"
    assert after[at + 2] == "# about the next one"
    inside = edit_options(DEBIAN, "mariadb", (("server_id", "4"),)).splitlines()
    assert inside.index("server_id = 4") < inside.index("!includedir /etc/mysql/conf.d/")


def test_that_line_ends_and_a_missing_last_one_are_kept_apart() -> None:
    assert edit_options("[mysqld]\r\na=1\r\n", "mysqld", (("b", "2"),)) == "[mysqld]\r\na=1\r\nb = 2\r\n"
    assert edit_options("[mysqld]\na=1", "mysqld", (("a", "2"),)) == "[mysqld]\na=2"
    assert edit_options("[mysqld]\na=1", "mysqld", (("b", "2"),)) == "[mysqld]\na=1\nb = 2\n"
    assert edit_options("[mysqld]\na=1", "sst", (("b", "2"),)) == "[mysqld]\na=1\n\n[sst]\nb = 2\n"
    assert edit_options("", "mysqld", (("b", "2"),)) == "[mysqld]\nb = 2\n"


def test_that_values_are_read_as_the_server_reads_them() -> None:
    text = r"""[mysqld]
a = 1 # one
b="x # y" # z
c = it;is
; d = 1
e
f =
loose-g-h = 'q\s\\'
[ mysqld]
a = 9"""
    assert read_options(text, "mysqld") == {"a": "1", "b": "x # y", "c": "it;is", "e": "", "f": "", "g_h": "q \\"}


@pytest.mark.parametrize(
    ("section", "name", "value"),
    [("my]sqld", "a", "1"), ("mysqld", "a\nb", "1"), ("mysqld", "a=b", "1"), ("mysqld", "", "1"), ("mysqld", "a", "\0"),
     ("mysqld", "a", "x" * 5000)],
)  # fmt: skip
def test_that_what_no_option_file_can_hold_is_refused(section: str, name: str, value: str) -> None:
    with pytest.raises(BadInput):
        edit_options(DEBIAN, section, ((name, value),))


_names = st.sampled_from(["a", "a-b", "a_b", "loose-a", "max_connections", "c.d"])
_values = st.text(st.sampled_from("ab1 =#;'\"\\[]!\t\n\r\bäs"), max_size=8)
_lines = st.one_of(
    st.sampled_from(["", "  ", "# c", "; c", "[mysqld]", " [mysqld] # x", "[sst]", "[mysqld", "!include /x", "skip-x"]),
    st.builds(
        lambda lead, name, gap, value, tail: f"{lead}{name}{gap}{value}{tail}",
        st.sampled_from(["", "  ", "\t"]),
        _names,
        st.sampled_from(["=", " = ", "= "]),
        _values.map(option_value),
        st.sampled_from(["", "  ", "  # note"]),
    ),
    _values.filter(lambda text: "\n" not in text),
)


@settings(max_examples=examples(400), deadline=None)
@given(
    st.lists(_lines, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from(["mysqld", "sst", "new"]),
    _names,
    st.none() | _values,
)
def test_that_any_edit_gives_the_wanted_value_and_leaves_every_other_line_as_it_was(
    lines: list[str], end: str, last: bool, section: str, name: str, value: str | None
) -> None:
    text = end.join(lines) + (end if last else "")
    after = edit_options(text, section, ((name, value),))
    read = read_options(after, section)
    assert read.get(canonical(name)) == value
    others = {key: found for key, found in read_options(text, section).items() if key != canonical(name)}
    assert {key: found for key, found in read.items() if key != canonical(name)} == others
    for other in {"mysqld", "sst", "new"} - {section}:
        assert read_options(after, other) == read_options(text, other)
    was, now = ([line for line in whole.splitlines() if line.strip()] for whole in (text, after))
    if value is not None:
        assert (Counter(was) - Counter(now)).total() <= 1
        assert (Counter(now) - Counter(was)).total() <= 2
    else:  # what is left stands in the order in which it stood
        rest = iter(was)
        assert all(line in rest for line in now)
    assert edit_options(after, section, ((name, value),)) == after


def test_that_a_byte_that_the_programs_take_for_a_blank_is_one_here_too() -> None:
    """0xA0 is white space to them, alone and as the second byte of a letter (services/option_values.py)."""
    alone = b"[mysqld]\na\xa0=\xa01\xa0\n".decode("utf-8", "surrogateescape")
    assert read_options(alone, "mysqld") == {"a": "1"}
    assert edit_options(alone, "mysqld", (("a", "1"),)) == alone
    assert option_value("voil\u00e0") == '"voil\u00e0"'
    assert read_options(edit_options("", "mysqld", (("a", "voil\u00e0"),)), "mysqld") == {"a": "voil\u00e0"}


@given(_values | st.text(max_size=6).filter(lambda text: "\0" not in text))
def test_that_any_value_reads_back_as_it_was_written(value: str) -> None:
    assert read_options(f"[mysqld]\na = {option_value(value)}\n", "mysqld") == {"a": value}


def test_that_a_section_is_found_whatever_its_case_and_keeps_it() -> None:
    """As my_print_defaults of MariaDB 10.11.18 and MySQL 9.7.4 compares the names of groups."""
    text = "[MySQLd]\nport=1\n[client]\nport=2\n"
    assert read_options(text, "mysqld") == {"port": "1"}
    assert edit_options(text, "mysqld", (("port", "3"),)) == text.replace("port=1", "port=3")
