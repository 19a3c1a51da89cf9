"""The changing road on real hosts: its accounts, its files, and that it shares nothing with the reading one."""

from __future__ import annotations

import secrets

import pytest

from services.connections.command import Command
from services.connections.operator.files import NotWritten
from services.connections.sql.statement import Keyword, Name, Sign, Statement, Value, set_global
from services.errors import AuthFailed, BadInput, QueryFailed, Refused, TimedOut
from services.secrets import Secret
from tests.lab.connections.connecting import entry, session, with_sql
from tests.lab.estate.estate import Estate
from tests.lab.operator.operating import LOGINS, armed, hosts_of, operated
from tests.sample import sampled

HOST = "r1"
VARIABLE = "max_connect_errors"
USER = Statement((Keyword("SELECT CURRENT_USER"), Sign("("), Sign(")")))


def value_on(estate: Estate) -> str:
    return estate.sql(HOST, f"SELECT @@{VARIABLE}")[0][0]


@pytest.fixture
def whole(replication: Estate) -> Estate:
    replication.sql(HOST, f"SET GLOBAL {VARIABLE}=100")
    return replication


def test_that_the_operator_sets_what_the_observer_is_refused(whole: Estate) -> None:
    with session(whole, entry(whole, HOST)) as observer:
        with pytest.raises(Refused):
            observer.query(f"SET GLOBAL {VARIABLE}=7")
        with armed(whole, operated(whole, HOST)) as hosts:
            rows = hosts.operator(HOST).execute(set_global(VARIABLE, 7))
            assert rows.rows == ()
            assert hosts.operator(HOST).execute(USER).rows == (("pilot@%",),)
        assert value_on(whole) == "7"
        with pytest.raises(Refused):
            observer.run(Command(("systemctl", "restart", "mariadb"), sudo=True))


def test_that_without_an_operator_account_root_of_the_unix_socket_acts_where_the_observer_may_not(
    whole: Estate,
) -> None:
    with armed(whole, entry(whole, HOST)) as hosts:
        operator = hosts.operator(HOST)
        assert operator.execute(USER).rows == (("observer@%",),)
        operator.execute(set_global(VARIABLE, 8))
        assert operator.execute(USER).rows == (("root@localhost",),)
        with pytest.raises(QueryFailed, match="Unknown system variable") as raised:
            operator.execute(set_global("no_such_variable", Keyword("ON")))
        assert raised.value.errno == 1193
        odd = Statement((Keyword("SELECT"), Value("a\tb\nc"), Keyword("AS"), Name("x"), Sign(","), Value(None)))
        assert operator.execute(odd).rows == (("a\tb\nc", None),)
    assert value_on(whole) == "8"


def test_that_the_operators_account_is_never_left_for_another_one(whole: Estate) -> None:
    wrong = with_sql(operated(whole, HOST), operator_user="observer", operator_password=None)
    with armed(whole, wrong) as hosts, pytest.raises(AuthFailed):
        hosts.operator(HOST).execute(set_global(VARIABLE, 9))
    assert value_on(whole) == "100"


def test_that_a_statement_is_stopped_at_its_limit_and_the_sentence_does_not_say_that_nothing_changed(
    whole: Estate,
) -> None:
    long = Statement((Keyword("SELECT SLEEP"), Sign("("), Value(30), Sign(")")))
    for made in (operated(whole, HOST), with_sql(entry(whole, HOST), port=3399)):
        with armed(whole, made) as hosts, pytest.raises(TimedOut) as raised:
            hosts.operator(HOST).execute(long, limit_s=2.0)
        assert "may have taken effect" in raised.value.safe


def test_that_nothing_is_armed_until_armed_and_nothing_after_disarming(whole: Estate) -> None:
    hosts = hosts_of(whole, operated(whole, HOST), operated(whole, "r2"))
    try:
        with pytest.raises(Refused):
            hosts.operator(HOST)
        hosts.arm("47", (HOST,))
        assert hosts.armed == (HOST,)
        operator = hosts.operator(HOST)
        operator.run(Command(("true",)))
        with pytest.raises(Refused):
            hosts.operator("r2")
        with pytest.raises(BadInput):
            hosts.operator("nobody")
        hosts.disarm()
        for call in (
            lambda: operator.run(Command(("touch", "/tmp/never"))),
            lambda: operator.execute(set_global(VARIABLE, 9)),
            lambda: operator.read_file("/etc/hostname"),
            lambda: hosts.operator(HOST),
        ):
            with pytest.raises(Refused):
                call()
        hosts.observer(HOST).status()
    finally:
        hosts.close()
    assert value_on(whole) == "100"
    assert whole.host(HOST).sh("ls /tmp/never", check=False).code


@pytest.mark.parametrize("login", sampled(LOGINS, lambda login: login == "dba"))
def test_that_files_are_replaced_whole_with_owner_and_mode_and_links_stay_links(whole: Estate, login: str) -> None:
    host = whole.host(HOST)
    host.sh("rm -rf /etc/operator-test; mkdir /etc/operator-test; ln -s real /etc/operator-test/link")
    secret = f"pass#{secrets.token_hex(8)}"
    text = f"a = ü\udcff\n{secret}\n"
    try:
        with armed(whole, operated(whole, HOST, login)) as hosts:
            operator = hosts.operator(HOST)
            assert operator.read_file("/etc/operator-test/link") is None
            operator.write_file("/etc/operator-test/link", Secret(text), mode="0640", owner="root:mysql")
            read = operator.read_file("/etc/operator-test/link")
            assert read == text.encode("utf-8", "surrogateescape")
            operator.write_file("/etc/operator-test/link", Secret("b\n" * 200_000), mode="0600", owner="mysql:mysql")
            assert host.sh("stat -c '%U:%G %a %s' /etc/operator-test/real").out == "mysql:mysql 600 400000\n"
            assert host.sh("readlink /etc/operator-test/link").out == "real\n"
            assert host.sh("ls -A /etc/operator-test").out.split() == ["link", "real"]
            with pytest.raises(NotWritten, match="there is no folder"):
                operator.write_file("/etc/operator-test/no/such", Secret(text))
            with pytest.raises(BadInput):
                operator.write_file("relative", Secret(text))
    finally:
        host.sh("rm -rf /etc/operator-test")
    assert secret not in host.sh("journalctl -b --no-pager -n 500").out


def test_that_a_write_which_finds_the_disk_full_leaves_the_old_file(whole: Estate) -> None:
    host = whole.host(HOST)
    host.sh("mkdir -p /run/operator-test && mount -t tmpfs -o size=64k tmpfs /run/operator-test")
    host.sh("echo old > /run/operator-test/file")
    try:
        with armed(whole, operated(whole, HOST)) as hosts, pytest.raises(NotWritten, match="No space"):
            hosts.operator(HOST).write_file("/run/operator-test/file", Secret("x" * 100_000))
        assert host.sh("cat /run/operator-test/file; ls -A /run/operator-test").out == "old\nfile\n"
    finally:
        host.sh("umount /run/operator-test && rmdir /run/operator-test")
