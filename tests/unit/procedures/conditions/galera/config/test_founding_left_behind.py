"""What a broken-off galera_new_cluster leaves has the next start found a cluster: in the check and at the start.

The hosts are scripted; what systemd says there was recorded on Debian 12 (MariaDB 10.11.18, systemd 252).
"""

from __future__ import annotations

from typing import Any

import pytest

from services.clock import ManualClock
from services.connections.ports import Output
from services.errors import AuthFailed
from services.facts.server.start_line import StartLine, StartWord, founds, start_line
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.checks import joins_others
from services.procedures.catalogue.steps.server import founds_nothing
from services.procedures.conditions.galera.config.founding import FoundsNothing
from services.procedures.conditions.galera.membership.apart import NotApart
from services.procedures.conditions.galera.membership.joined import Joined
from services.procedures.gather.reader import Reader
from services.procedures.plan.actions import Run, Several
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.inside import founds as founding_act
from services.procedures.plan.inside import parts, starts_a_server
from services.procedures.plan.parts.server.starting import Starting
from services.procedures.verify.prover import RealProver
from tests.faults.scripted.cluster import whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.catalogue.bootstrap_after_crash.test_crash_choice import crashed, rest_of
from tests.unit.procedures.facts_of_three import BLOCK, PASS, WARN, facts, host
from tests.unit.procedures.host_of import host_of
from tests.unit.procedures.scripted_sessions import NOTHING, UNIT, ScriptedHosts, ScriptedSession, out

SHOWN = """\
LoadState=loaded
ExecStartPre={ path=/bin/sh ; argv[]=/bin/sh -c [ ! -e /usr/bin/galera_recovery ] && VAR= ||   VAR=`/usr/bin/galera_\
recovery`; [ $? -eq 0 ]   && echo _WSREP_START_POSITION=$VAR > /run/mysqld/wsrep-start-position || exit 1 ; \
ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }
ExecStart={ path=/usr/sbin/mariadbd ; argv[]=/usr/sbin/mariadbd $MYSQLD_OPTS $_WSREP_NEW_CLUSTER \
$_WSREP_START_POSITION ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }
"""
LEFT = "manager _WSREP_NEW_CLUSTER=--wsrep-new-cluster\n"
OPTIONS = "--wsrep_on=ON\n--wsrep_cluster_address=gcomm://n1,n2,n3\n"
WAY = "systemctl unset-environment _WSREP_NEW_CLUSTER"
MEMBERS = (("mysqld", "wsrep_cluster_address", "gcomm://n1,n2,n3"),)
CONDITION = FoundsNothing("n3", UNIT)


def line(more: str, shown: str = SHOWN) -> StartLine:
    found = start_line(shown + more, UNIT)
    assert found is not None
    return found


def hosts(read: Output, options: str = OPTIONS) -> ScriptedHosts:
    found = ScriptedHosts("n1", "n2", "n3")
    found.sessions["n3"].programs = {"timeout": read, "my_print_defaults": out(options)}
    return found


def look(found: ScriptedHosts, condition: Condition) -> Answer:
    return RealProver(found, ManualClock()).look(condition, NOTHING)


def shown_by(path: str, argv: str) -> str:
    return f"LoadState=loaded\nExecStart={{ path={path} ; argv[]={argv} ; ignore_errors=no ; start_time=[n/a] }}\n"


@pytest.mark.parametrize(
    ("more", "says", "way"),
    [
        (LEFT, "_WSREP_NEW_CLUSTER in systemd's environment gives --wsrep-new-cluster", WAY),
        (
            "file /run/mysqld/wsrep-new-cluster _WSREP_NEW_CLUSTER=--wsrep-new-cluster\n",
            "_WSREP_NEW_CLUSTER in /run/mysqld/wsrep-new-cluster",
            "remove _WSREP_NEW_CLUSTER from /run/mysqld/wsrep-new-cluster",
        ),
        ("manager MYSQLD_OPTS=$'--a=1 --wsrep_new'\n", "MYSQLD_OPTS in systemd's", "unset-environment MYSQLD_OPTS"),
        (
            'unit TZ=UTC "MYSQLD_OPTS=--a --wsrep-cluster-address=gcomm://"\n',
            "it names nobody to join",
            "systemctl edit",
        ),
        ("manager MYSQLD_OPTS=$'--wsrep-cluster-address gcomm://'\n", "it names nobody to join", "MYSQLD_OPTS"),
        ("manager MYSQLD_OPTS=--wsrep-on=OFF\n", "the server joins nobody", "MYSQLD_OPTS"),
    ],
)
def test_that_a_leftover_is_named_with_where_it_stands_and_what_takes_it_away(more: str, says: str, way: str) -> None:
    ((told, remedy),) = line(more).founding()
    assert says in told
    assert way in remedy


@pytest.mark.parametrize(
    "more",
    [
        "",
        "manager _WSREP_NEW_CLUSTER=\n",
        "manager _WSREP_START_POSITION=--wsrep_start_position=u:7\n",  # the unit's own command writes it anew
        "manager MYSQLD_OPTS=--wsrep-new-cluster=OFF\n",
        "manager MYSQLD_OPTS=--skip-wsrep-new-cluster\n",
        "manager MYSQLD_OPTS=--wsrep_cluster_address=gcomm://n1,n2\n",
        "manager MYSQLD_OPTS=--wsrep-new-cluster\nunit MYSQLD_OPTS=\n",  # Environment= counts over systemd's own
        "manager OTHER=--wsrep-new-cluster\n",  # the unit's command does not name it
        "script /etc/default/mysql EXTRA_ARGS=--wsrep-new-cluster\n",  # no script is started that would read it
    ],
)
def test_that_what_gives_the_server_nothing_is_no_leftover(more: str) -> None:
    assert line(more).founding() == ()
    assert line(more).blind(()) == ()


def test_that_a_start_position_that_nothing_finds_anew_is_named() -> None:
    shown = shown_by("/usr/sbin/mysqld", "/usr/sbin/mysqld $_WSREP_START_POSITION")
    ((told, _),) = line("manager _WSREP_START_POSITION=--wsrep_start_position=u:7\n", shown).founding()
    assert "it tells where the data stand" in told


def test_that_the_words_of_the_units_own_command_count() -> None:
    shown = shown_by("/usr/sbin/mysqld", "/usr/sbin/mysqld --user=mysql --wsrep-new-cluster")
    ((told, way),) = line("", shown).founding()
    assert told.startswith(f"the command of {UNIT} gives --wsrep-new-cluster")
    assert f"systemctl edit {UNIT}" in way


def test_that_a_start_script_is_not_known_and_its_files_count() -> None:
    shown = shown_by("/etc/init.d/mysql", "/etc/init.d/mysql start")
    assert line("", shown).script == "/etc/init.d/mysql"
    found = line("script /etc/default/mysql EXTRA_ARGS=--wsrep-new-cluster\n", shown).founding()
    assert found[0][1] == "remove EXTRA_ARGS from /etc/default/mysql"


def test_that_no_secret_of_a_command_line_is_kept() -> None:
    more = "manager MYSQLD_OPTS=$'--wsrep_sst_auth=sst:geheim --password=geheim --wsrep-new-cluster'\n"
    assert "geheim" not in repr(line(more))


@pytest.mark.parametrize(
    ("words", "is_one"),
    [
        ("/usr/sbin/mariadbd --wsrep-new-cluster --wsrep_start_position=u:7", True),
        ("/usr/sbin/mysqld --user=mysql --wsrep_new_cluster", True),
        ("/usr/sbin/mariadbd --wsrep_start_position=u:7", False),
        ("", False),
    ],
)
def test_that_a_running_servers_own_words_tell_that_it_was_founded(words: str, is_one: bool) -> None:
    assert founds(words) is is_one


# -- the check ---------------------------------------------------------------------------------------------------------


def check(**more: Any) -> Any:
    (found,) = joins_others(facts(host("n3", options_given=MEMBERS, **more)), ("n3",))
    return found


def test_that_a_host_with_a_leftover_is_not_called_ready_to_join() -> None:
    found = check(starting_line=line(LEFT))
    assert (found.verdict, found.absolute, found.not_known) == (BLOCK, True, False)
    assert found.try_ == (f"On n3: {WAY}",)
    assert check(starting_line=line("")).verdict is PASS


def test_that_a_command_line_that_was_not_read_is_not_ok() -> None:
    for unknown in (
        None,
        line("unread file /etc/default/mariadb\n"),
        line("manager MYSQLD_OPTS=--defaults-file=/x.cnf\n"),
    ):
        found = check(starting_line=unknown)
        assert (found.verdict, found.not_known) == (WARN, True), unknown


def test_that_it_is_read_with_what_else_a_start_needs_on_a_scripted_host() -> None:
    session = ScriptedSession("n3")
    session.programs = {"timeout": out(SHOWN + LEFT)}
    read = Starting.read(host_of("n3", unit_name=UNIT), Reader(session, ManualClock()))
    assert read.line is not None
    assert read.line.words == (StartWord("wsrep_new_cluster", "", "manager", "_WSREP_NEW_CLUSTER"),)
    session.programs = {"timeout": out(code=3)}
    assert Starting.read(host_of("n3", unit_name=UNIT), Reader(session, ManualClock())).line is None


# -- just before a start -----------------------------------------------------------------------------------------------


def test_that_a_leftover_is_seen_once_more_before_the_start_on_scripted_hosts() -> None:
    answer = look(hosts(out(SHOWN + LEFT)), CONDITION)
    assert answer.holds is False
    assert answer.evidence.endswith(f"On n3: {WAY}")
    assert look(hosts(out(SHOWN)), CONDITION).holds is True
    assert look(hosts(out(code=3)), CONDITION).holds is None
    assert look(hosts(out(SHOWN + "unread file /etc/default/mariadb\n")), CONDITION).holds is None


@pytest.mark.parametrize("more", ["--wsrep_new_cluster\n", "--wsrep_cluster_address=gcomm://\n"])
def test_that_the_option_files_are_read_with_it_on_scripted_hosts(more: str) -> None:
    assert look(hosts(out(SHOWN), OPTIONS + more), CONDITION).holds is False


def test_that_a_script_holds_only_where_the_checklist_told_of_it_on_scripted_hosts() -> None:
    shown = out(shown_by("/etc/init.d/mysql", "/etc/init.d/mysql start"))
    assert look(hosts(shown), CONDITION).holds is None
    assert look(hosts(shown), FoundsNothing("n3", UNIT, "/etc/init.d/mysql")).holds is True


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("add-node", {"joiner": "new"}),
        ("rolling-restart", {}),
        ("freeze-gcache", {"node": "n3", "donor": "n1"}),
    ],
)
def test_that_every_start_and_every_start_of_an_undo_looks_for_it(name: str, given: dict[str, str]) -> None:
    seen = facts_of(whole("n1", "n2", "n3", spare="new"))
    procedure = procedure_named(name)
    plan = procedure.plan(seen, filled(procedure.fields(seen, given), given))
    acts = [(s.host, s.before) for s in plan.steps if starts_a_server(s.action)]
    acts += [(s.host, s.undo.before) for s in plan.steps if s.undo is not None and starts_a_server(s.undo.action)]
    assert acts
    for where, before in acts:
        assert founds_nothing(seen.host(where)) in before, where


def test_that_the_procedure_that_founds_leaves_nothing_behind() -> None:
    plan = rest_of(crashed(n1=10, n2=10, n3=11))
    at = next(i for i, step in enumerate(plan.steps) if founding_act(step.action))
    after = plan.steps[at + 1]
    words = [part.command.argv for part in parts(after.action) if isinstance(part, Run)]
    assert words == [("systemctl", "unset-environment", "_WSREP_NEW_CLUSTER")]
    assert after.proof == (FoundsNothing(plan.steps[at].host, UNIT, left=True),)
    undo = plan.steps[at].undo
    assert undo is not None
    assert isinstance(undo.action, Several)
    assert after.proof[0] in undo.proof


# -- a server that was founded all the same ----------------------------------------------------------------------------


def founder(words: str) -> ScriptedHosts:
    found = ScriptedHosts("n1", "n2", "n3")
    session = found.sessions["n3"]
    session.state = AuthFailed("The server refused the login.", host="n3")

    def run(read: Any, *, limit_s: float = 10.0) -> Output:
        del limit_s
        listing = {"server-process": "  7 Ssl mariadbd\n", "server-words": words}
        return out(listing.get(read.name, ""))

    session.run = run  # type: ignore[method-assign]
    return found


def test_that_an_undo_does_not_stop_a_server_that_was_founded_where_sql_is_refused_on_scripted_hosts() -> None:
    apart = NotApart("n3", ("n1", "n2"), "u")
    answer = look(founder("/usr/sbin/mariadbd --wsrep-new-cluster\n"), apart)
    assert (answer.holds, answer.final) == (False, True)
    assert "FOUNDED a cluster of its own" in answer.evidence
    assert look(founder("/usr/sbin/mariadbd\n"), apart).holds is True


def test_that_a_start_is_not_waited_for_whose_server_was_founded_on_scripted_hosts() -> None:
    joins = Joined("n3", "u", UNIT, ("n1", "n2"))
    answer = look(founder("/usr/sbin/mariadbd --wsrep-new-cluster\n"), joins)
    assert (answer.holds, answer.final) == (False, True)
    assert "FOUNDED" in answer.evidence
    first = look(founder("/usr/sbin/mariadbd --wsrep-new-cluster\n"), Joined("n3", "u", UNIT))
    assert not first.final  # bootstrap-after-crash founds it on purpose
