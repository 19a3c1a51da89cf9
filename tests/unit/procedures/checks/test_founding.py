"""Whether a start would found a cluster of its own: of a host with a configuration, and of one that gets it now."""

from __future__ import annotations

import pytest

from services.facts.server.option_files import parse_defaults
from services.facts.server.start_line import StartLine
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.checks import joins_others_once_written
from services.procedures.catalogue.galera.shared.newcomer import config_path
from services.procedures.conditions.server.option import OptionIs
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.host_facts import Facts
from tests.faults.scripted.cluster import whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.facts_of_three import BLOCK, PASS, WARN
from tests.unit.procedures.host_of import host_of

FOLDER = "/etc/mysql/mariadb.conf.d"
OURS = f"{FOLDER}/90-pilothouse-galera.cnf"
SERVER = ("/etc/mysql/my.cnf", "[client-server]\n"), (f"{FOLDER}/50-server.cnf", "[mysqld]\nserver_id = 7\n")


def fresh(*files: tuple[str, str], printed: str = "--server_id=7\n") -> Check:
    options, line = parse_defaults(printed, "mysqld"), StartLine("mariadb.service")
    host = host_of("new", options_files=(*SERVER, *files), options_given=options, starting_line=line)
    assert config_path(host) == OURS
    return joins_others_once_written(Facts(1.0, "u", "lab", hosts=(host,)), "new", OURS)


def test_that_a_new_host_joins_whom_our_file_will_name() -> None:
    check = fresh()
    assert (check.code, check.verdict, check.host) == ("JOINS-OTHERS", PASS, "new")


@pytest.mark.parametrize("line", ["wsrep_new_cluster=1", "wsrep-new-cluster", "loose_wsrep_new_cluster=ON"])
def test_that_a_leftover_of_a_bootstrap_blocks_and_is_not_overridden(line: str) -> None:
    check = fresh((f"{FOLDER}/60-left.cnf", f"[mysqld]\n{line}\n"), printed=f"--server_id=7\n--{line}\n")
    assert (check.verdict, check.absolute) == (BLOCK, True)
    assert check.evidence == "wsrep_new_cluster is set in the option files of new"


def test_that_one_that_is_switched_off_is_no_leftover() -> None:
    assert fresh(printed="--server_id=7\n--wsrep_new_cluster=OFF\n").verdict is PASS


def test_that_an_empty_address_counts_only_where_it_is_read_after_ours() -> None:
    text = "[galera]\nwsrep_cluster_address =\n"
    printed = "--server_id=7\n--wsrep_cluster_address=\n"
    assert fresh((f"{FOLDER}/60-galera.cnf", text), printed=printed).verdict is PASS
    check = fresh((f"{FOLDER}/99-local.cnf", text), printed=printed)
    assert (check.verdict, check.absolute) == (BLOCK, True)
    assert (
        check.evidence
        == f"{FOLDER}/99-local.cnf is read after {OURS} and sets wsrep_cluster_address = nothing on new, "
        "which takes precedence"
    )
    both = fresh((f"{FOLDER}/99-local.cnf", text.replace("galera]", "client-server]")), printed=printed)
    assert both.verdict is BLOCK  # a server reads that group too
    others = fresh(
        (f"{FOLDER}/99-local.cnf", "[galera ]\nwsrep_cluster_address=gcomm:// # first node\n"), printed=printed
    )
    assert (others.verdict, "wsrep_cluster_address = gcomm:// on new, which takes precedence" in others.evidence) == (
        BLOCK,
        True,
    )
    assert others.try_ == (
        f"Remove wsrep_cluster_address from {FOLDER}/99-local.cnf on new: {OURS} will name the members.",
    )
    assert fresh((f"{FOLDER}/99-local.cnf", "[client]\nwsrep_cluster_address =\n")).verdict is PASS


@pytest.mark.parametrize(
    "lines",
    [
        "[mysqld]\nwsrep_cluster_address = # of the role\n",
        "[mysqld\t] # ours\nwsrep_cluster_address=\n",
        "[MariaDB]\nloose-wsrep-cluster-address = ''\n",
        '[mariadb-10.11]\nwsrep_cluster_address = "" # later\n',
        "[mysqld]\r\nwsrep_cluster_address =\r\n",
    ],
)
def test_that_a_last_file_that_empties_the_address_blocks_however_it_is_written(lines: str) -> None:
    """Each held against `my_print_defaults --mysqld` of MariaDB 10.11.18."""
    assert fresh((f"{FOLDER}/99-local.cnf", lines), printed="--wsrep_cluster_address=\n").verdict is BLOCK


def test_that_a_file_that_the_server_reads_and_the_console_cannot_leaves_it_open() -> None:
    """An option file with a blank in its name: the server reads it, no read of the console's takes the path."""
    line = StartLine("mariadb.service")
    given = parse_defaults("--server_id=7\n", "mysqld")
    odd = (f"{FOLDER}/99 local.cnf",)
    host = host_of("new", options_files=SERVER, options_given=given, options_unread=odd, starting_line=line)
    check = joins_others_once_written(Facts(1.0, "u", "lab", hosts=(host,)), "new", OURS)
    assert (check.verdict, check.not_known) == (WARN, True)
    assert "99 local.cnf" in check.evidence


@pytest.mark.parametrize(
    "lines",
    [
        "[mysqld_safe]\nwsrep_cluster_address =\n",
        "[ mysqld]\nwsrep_cluster_address =\n",  # a blank in front is part of the name
        "[mysqld]\n# wsrep_cluster_address =\n; wsrep_cluster_address =\n",
        "[mysqld]\nport = 1 # wsrep_cluster_address =\n",
    ],
)
def test_that_what_no_server_reads_does_not(lines: str) -> None:
    assert fresh((f"{FOLDER}/99-local.cnf", lines)).verdict is PASS


def test_that_files_that_were_not_read_are_not_good() -> None:
    assert fresh(printed="").verdict is WARN


def test_that_the_start_reads_the_files_once_more() -> None:
    seen, given = facts_of(whole("n1", "n2", "n3", spare="new")), {"joiner": "new"}
    add = procedure_named("add-node")
    start = add.plan(seen, filled(add.fields(seen, given), given)).step("start-new")
    read = [(c.option, c.value) for c in start.before if isinstance(c, OptionIs)]
    assert [option for option, _ in read] == ["wsrep_new_cluster", "wsrep_cluster_address"]
    assert read[0][1] is None
    assert "gcomm://" in str(read[1][1])
    checks = add.preflight(seen, given)
    assert [c.verdict for c in checks if c.code == "JOINS-OTHERS"] == [PASS]
