"""Option files as the clients and servers read them: by what their sources say, and against their own programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.inventory.imports_mycnf import import_my_cnf
from services.option_values import option_lines, plain_name
from services.secrets import Secret, SecretRef
from tests.examples import examples
from tests.unit.option_files_generated import differences, ours, programs


def option_line(line: str) -> tuple[str, str]:
    """Return (name, value) of a line within a group, ('', '') for what is no option."""
    found = next((one for one in option_lines(f"[client]\n{line}") if one.kind == "option"), None)
    return (found.name, found.value or "") if found is not None else ("", "")


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("password=abc#def", "password", "abc"),
        ("password=xYz#1\"q'", "password", "xYz"),
        ("password='a\\'b'", "password", "a'b"),
        ('password = "a # b" # c', "password", "a # b"),
        ("flag # of mine", "flag", ""),
        ("# flag", "", ""),
        ("; flag = 1", "", ""),
        ("path = C:\\snew", "path", "C: new"),
        ("max_connections\t=\v400 \f", "max_connections", "400"),
        ("init_connect = 'SET NAMES \"utf8mb4\"'", "init_connect", 'SET NAMES "utf8mb4"'),
        ("sql_mode = \"ANSI'", "sql_mode", "\"ANSI'"),
        ("tail = a\\", "tail", "a\\"),
        ("tail = a\\\\", "tail", "a\\"),
        ("odd = \\q\\\\n", "odd", "\\q\\n"),
        ("semicolon = a;b", "semicolon", "a;b"),
        ("[mysqld]", "", ""),
        ("= lost", "", ""),
    ],
)
def test_that_a_line_of_an_option_file_is_read_as_my_print_defaults_reads_it(line: str, name: str, value: str) -> None:
    """Held against my_print_defaults of MariaDB 10.11.18 and 11.8.9, and MySQL 9.7.4."""
    assert option_line(line) == (name, value)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"[mysqld ]\nport=1\n", b"--port=1\n"),
        (b"[ mysqld]\nport=1\n", b""),  # a blank in front is part of the name
        (b"[MySQLd]\nport=1\n", b"--port=1\n"),
        (b"[mysqld] port=9\nport=1\n", b"--port=1\n"),
        (b"[mysqld]\r\nport=1\r\n[client]\r\nport = 2 \r\n", b"--port=1\n--port=2\n"),
        (b"[client]\nuser=voil\xc3\xa0\n", b"--user=voil\xc3\n"),  # 0xA0 is white space for them
        (b"[client]\nuser='voil\xc3\xa0'\n", b"--user=voil\xc3\xa0\n"),
        (b"[client]\nuser=\xe2\x80\x83x\n", b"--user=\xe2\x80\x83x\n"),  # and a wide space of Unicode's is none
        (b"[client]\nuser=a\x0bb\x85c\n", b"--user=a\x0bb\x85c\n"),
        (b"[client]\nskip-ssl\nssl=\n", b"--skip-ssl\n--ssl=\n"),
        (b"port=1\n[client]\n", None),
        (b"\xef\xbb\xbf[client]\nport=1\n", None),  # a byte order mark
        (b"[client\nport=1\n", None),
        (b"[client]\n!include\nport=1\n", None),
        (b"[client]\nport=1\0\nuser=x\n", None),
        (b"[client]\nx=" + b"a" * 4092 + b"\n", None),
        (b"[client]\nx=" + b"a" * 4091 + b"\n", b"--x=" + b"a" * 4091 + b"\n"),
    ],
)
def test_that_a_file_is_read_up_to_where_its_programs_refuse_it(data: bytes, told: bytes | None) -> None:
    assert ours(data) == told


def test_that_inclusions_are_told_by_their_paths() -> None:
    text = "[a]\n  ! include   /etc/my first.cnf  # ours\n!includedir /etc/my.cnf.d/\n!includes /x\n"
    pairs = [(line.kind, line.name) for line in option_lines(text)]
    assert pairs[1:] == [("include", "/etc/my first.cnf"), ("includedir", "/etc/my.cnf.d/"), ("ignored", "includes /x")]
    assert plain_name("loose_Innodb_flush-method") == "innodb-flush-method"


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda data: data.decode("utf-8", "surrogateescape")))
@settings(max_examples=examples(300), deadline=None)
def test_that_no_text_becomes_an_option_that_is_not_written_there(text: str) -> None:
    """Each name and value is made of signs of its own line; nothing is read behind what the programs refuse."""
    lines = text.encode("utf-8", "surrogateescape").split(b"\n")
    broken = False
    for line in option_lines(text):
        assert not broken
        broken = line.kind == "broken"
        if line.kind == "option":
            assert line.name
            assert line.name.encode("utf-8", "surrogateescape") in lines[line.number - 1]


def test_that_half_a_sign_is_no_exception() -> None:
    assert option_line("port=3306\ud800")[0] == "port"


@pytest.mark.skipif(not programs(), reason="this machine has no my_print_defaults")
def test_that_a_sample_of_generated_files_is_read_as_the_vendors_programs_read_it() -> None:
    """The large number is a command: see tests/unit/option_files_generated.py."""
    assert list(differences(24, 7, programs()[:2])) == []


PASSWORDS = [
    (b'"s3\\"cr"', 's3"cr'), (b"'o\\'clock'", "o'clock"), (b'"x"y"', 'x"y'), (b'x\\"y', 'x"y'), (b"x#y", "x"),
    (b"'x#y'", "x#y"), (b'"x # y" # of the shop', "x # y"), (b"x\\sy", "x y"), (b"a\\\\b", "a\\b"), (b"a;b", "a;b"),
    ('"gr\u00fcn"'.encode(), "gr\u00fcn"), (b"  x  ", "x"), (b'" x "', " x "), (b"a=b", "a=b"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "password"), PASSWORDS)
def test_that_the_keyring_gets_the_password_that_the_client_would_send(
    written: bytes, password: str, tmp_path: Path
) -> None:
    """Held against `my_print_defaults --show client` of MariaDB 10.11.18 and MySQL 9.7.4."""
    file = tmp_path / "my.cnf"
    file.write_bytes(b"[client]\nhost=db1\nuser=app\npassword=" + written + b"\n")
    assert import_my_cnf(file).secrets == ((SecretRef("keyring", "app@db1:3306"), Secret(password)),)


@pytest.mark.parametrize("written", [b"gr\xfcn", b"voil\xc3\xa0", b"\xff"])
def test_that_a_password_that_is_no_text_is_not_kept_and_nobody_is_told_to_delete_it(
    written: bytes, tmp_path: Path
) -> None:
    """ISO-8859-1, and an a with a grave accent at the end, of which the client cuts the second byte."""
    file = tmp_path / "my.cnf"
    file.write_bytes(b"[client]\nhost=db1\nuser=app\npassword=" + written + b"\n")
    report = import_my_cnf(file)
    assert report.secrets == ()
    assert report.hosts[0].sql is not None
    assert report.hosts[0].sql.password is None
    assert "is not UTF-8 text" in report.problems[0]
    assert not any("delete it" in note for note in report.notes)


def test_that_a_later_line_counts_whatever_its_group_and_a_file_of_everybodys_does_not(tmp_path: Path) -> None:
    """As `my_print_defaults --defaults-group-suffix=prod client` tells it: in the order of the file."""
    text = "[clientprod]\nhost=db1\nuser=app\npassword=old\n[Client]\npassword=new\n!include {}\n"
    (tmp_path / "all.cnf").write_text("[client]\npassword=anyone\n")
    (tmp_path / "all.cnf").chmod(0o666)
    file = tmp_path / "my.cnf"
    file.write_text(text.format(tmp_path / "all.cnf"))
    report = import_my_cnf(file)
    assert [secret for _, secret in report.secrets] == [Secret("new")]
    assert "other users may write to it" in report.problems[0]
