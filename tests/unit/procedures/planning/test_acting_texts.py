"""What acts are worded as, what their output becomes, and what locks, clients and units say: all pure."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given

from services.connections.command import Command
from services.connections.operator import client as operator_client
from services.connections.ports import Output, Rows
from services.connections.sql.statement import set_global
from services.errors import AuthFailed, QueryFailed, TimedOut, Unreachable
from services.facts.machine.detached_work import Found, parse_look, parse_unit
from services.procedures.engine.lock import holder_sentence, lock_path, lock_text, parse_lock
from services.procedures.engine.ports import ActFailed
from services.procedures.execute import acting
from services.procedures.execute.acting_output import Masks, judged
from services.procedures.execute.detached import work_name
from services.procedures.plan.actions import (
    Action,
    Ask,
    AtPrimary,
    AtRouter,
    Checkpoint,
    Continue,
    CopiedSecret,
    Detached,
    EditOptions,
    PutFile,
    RemoveFile,
    RestoreFile,
    Run,
    Several,
    Sql,
    WaitFor,
)
from services.procedures.plan.host_facts import LockSeen
from services.procedures.plan.wording import wording
from services.secrets import Secret
from tests.unit.procedures.any_values import any_value

STOP = Command(("systemctl", "stop", "mariadb.service"), sudo=True)
AUTH = CopiedSecret("n1", "wsrep_sst_auth")


@pytest.mark.parametrize(
    ("action", "lines"),
    [
        (Sql(set_global("wsrep_desync", 1)), ("SET GLOBAL wsrep_desync=1;",)),
        (Run(STOP), ("sudo systemctl stop mariadb.service",)),
        (Run(Command(("cat",), stdin=Secret("hunter2"))), ("cat <<< ********",)),
        (
            Detached(STOP, "stop"),
            (
                (
                    "sudo systemctl stop mariadb.service   # detached as pilothouse-RUN-stop: "
                    "continues without this console"
                ),
            ),
        ),
        (
            EditOptions("/etc/my.cnf", "mysqld", (("a", "1"), ("b", None), ("wsrep_sst_auth", AUTH))),
            (
                "edit /etc/my.cnf [mysqld]",
                "+ a = 1",
                "- b",
                "+ wsrep_sst_auth = ******** (copied from n1: [mysqld] wsrep_sst_auth)",
            ),
        ),
        (
            Several((PutFile("/run/x", ("[Service]\nA=", "b\n")), RemoveFile("/run/y"), RestoreFile("/run/z"))),
            (
                "write /run/x (root:root 0644)",
                "+ [Service]",
                "+ A=b",
                "remove /run/y",
                "put back /run/z as it was before the run",
                "  (if others changed it since: only the lines of this run are removed, or it is kept and reported)",
            ),
        ),
        (Checkpoint("Nothing is half done."), ("rest: Nothing is half done.",)),
    ],
)
def test_that_every_act_is_worded_line_by_line(action: Action, lines: tuple[str, ...]) -> None:
    assert wording(action) == lines
    assert wording(action, "n2") == tuple(f"n2: {line}" for line in lines)


@given(any_value(Action))
def test_that_any_action_has_a_wording(action: Action) -> None:
    if not (isinstance(action, Several) and not action.actions):
        assert wording(action)


def test_that_every_action_which_changes_one_host_has_an_act() -> None:
    around = {Several, AtPrimary, AtRouter, Detached}
    of_the_engine = {WaitFor, Ask, Checkpoint, Continue}
    assert set(acting._ACTS) == set(get_args(Action)) - around - of_the_engine


def test_that_output_is_cut_and_carries_no_secret_that_was_copied_or_that_a_program_tells() -> None:
    masks = Masks()
    masks.learn("sst:Abc#12")
    assert masks.lines("x sst:Abc#12 y\n\nz Abc#12\n") == ("x ******** y", "z ********")
    assert masks.lines("wsrep-sst-auth      root:pw\nwsrep_sst_auth=a b\nmysql_password: q") == (
        "wsrep-sst-auth      ********",
        "wsrep_sst_auth=********",
        "mysql_password: ********",
    )
    plain = ("wsrep-sst-auth      (No default value)", "old-passwords   NO", "max-connections 151")
    assert masks.lines("\n".join(plain)) == plain
    assert masks.lines("\n".join(map(str, range(100))))[0] == "60"
    assert "Abc" not in repr(masks)


def test_that_an_act_is_judged_by_its_code_and_what_it_says() -> None:
    masks = Masks()
    good = judged(
        "x", (0, "a\n", "Recovered position: u:5\n"), host="n1", ok=(0,), keep="p", pattern=r"u:\d", masks=masks
    )
    assert good.kept == (("p", "u:5"),)
    whole = judged("x", (0, " a \n", ""), host="n1", ok=(0,), keep="p", pattern="", masks=masks)
    assert whole.kept == (("p", "a"),)
    for output, pattern, told in (((1, "", "no"), "", "exit code 1: no"), ((0, "a", ""), "b", "does not match")):
        with pytest.raises(ActFailed, match=told) as failed:
            judged("x", output, host="n1", ok=(0,), keep="", pattern=pattern, masks=masks)
        assert failed.value.safe != "Nothing was changed."


def test_that_a_lock_reads_back_and_a_damaged_one_still_is_one() -> None:
    lock = LockSeen("ann@desk", "47", 1_763_728_000.5, "rolling-restart", "6c1f")
    assert parse_lock(lock_text(lock)) == lock
    assert holder_sentence(lock) == (
        "ann@desk runs rolling-restart on this cluster since 2025-11-21 12:26:40 UTC (run 47)."
    )
    assert parse_lock("") is None
    assert parse_lock(" \n") is None
    for text in ("{", "[]", "7", '{"owner": 3}'):
        assert parse_lock(text) is not None
    assert lock_path("6c1f-a") == "/run/pilothouse/lock-6c1f-a"
    assert lock_path("../../etc/x y") == "/run/pilothouse/lock--etc-x-y"


def test_that_the_clients_batch_output_becomes_rows() -> None:
    output = Output(0, b"a\tb\nx\\ty\\n\\\\\tNULL\n\xc2\x85\t\n", b"")
    rows = operator_client.rows(output, host="n1", limit_s=1)
    assert rows == Rows(("a", "b"), (("x\ty\n\\", None), ("\x85", "")))
    assert operator_client.rows(Output(0, b"", b""), host="n1", limit_s=1) == Rows((), ())


@pytest.mark.parametrize(
    ("stderr", "kind"),
    [
        (b"ERROR 1193 (HY000) at line 2: Unknown system variable 'x'", QueryFailed),
        (b"ERROR 1969 (70100) at line 2: Query execution was interrupted", TimedOut),
        (b"ERROR 1698 (28000): Access denied for user 'root'@'localhost'", AuthFailed),
        (b"ERROR 2002 (HY000): Can't connect to local server through socket", Unreachable),
        (b"something else", QueryFailed),
    ],
)
def test_that_the_clients_errors_are_those_of_the_sql_road(stderr: bytes, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        operator_client.rows(Output(1, b"", stderr), host="n1", limit_s=1)
    assert not operator_client.is_missing(Output(1, b"", stderr))


def test_that_a_missing_client_is_told_from_a_failing_one() -> None:
    assert operator_client.is_missing(Output(1, b"", b"sudo: mariadb: command not found\n"))
    assert operator_client.is_missing(Output(127, b"", b"bash: mariadb: command not found\n"))
    assert operator_client.is_missing(Output(127, b"", b"sh: 1: mariadb: not found\n"))
    assert not operator_client.is_missing(Output(1, b"", b"ERROR 1049 (42000): database not found\n"))


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        ({"LoadState": "not-found", "ActiveState": "inactive"}, Found("absent")),
        ({}, Found("absent")),
        ({"LoadState": "loaded", "ActiveState": "active", "SubState": "running"}, Found("running")),
        ({"LoadState": "loaded", "ActiveState": "deactivating", "SubState": "stop-sigterm"}, Found("running")),
        (
            {"LoadState": "loaded", "ActiveState": "active", "SubState": "exited", "ExecMainCode": "1",
             "ExecMainStatus": "0", "Result": "success"},
            Found("ended", 0, "success"),
        ),
        (
            {"LoadState": "loaded", "ActiveState": "failed", "ExecMainCode": "1", "ExecMainStatus": "5",
             "Result": "exit-code"},
            Found("ended", 5, "exit-code"),
        ),
        (
            {"LoadState": "loaded", "ActiveState": "failed", "ExecMainCode": "2", "ExecMainStatus": "9",
             "Result": "oom-kill"},
            Found("ended", 137, "oom-kill"),
        ),
        (
            {"LoadState": "loaded", "ActiveState": "failed", "ExecMainCode": "0", "ExecMainStatus": "0",
             "Result": "resources"},
            Found("ended", 255, "resources"),
        ),
    ],
)  # fmt: skip
def test_that_a_units_properties_tell_where_the_job_stands(shown: dict[str, str], found: Found) -> None:
    assert parse_unit("\n".join(f"{name}={value}" for name, value in shown.items())) == found


def test_that_a_jobs_name_is_a_units_name_and_its_status_is_read() -> None:
    assert work_name("47", "start n2/x") == "pilothouse-47-start_n2_x"
    assert [parse_look(text) for text in ("absent\n", "running\n", "ended 3\n", "gone\n", "")] == [
        Found("absent"),
        Found("running"),
        Found("ended", 3),
        Found("gone"),
        Found("absent"),
    ]


@pytest.mark.parametrize("program", operator_client.PROGRAMS)
def test_that_roots_client_gives_no_file_to_whoever_answers_on_the_socket(program: str) -> None:
    """MySQL 5.7's gives any by default, MariaDB 10.11's where root's option file allows it."""
    assert "--local-infile=0" in operator_client.command(program, "SELECT 1", "/run/s.sock", 5).argv[2]
