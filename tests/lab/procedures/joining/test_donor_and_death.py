"""A run that breaks off around a start, on real servers: whom the node asks afterwards, and when its death is seen."""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.whole import Whole

pytestmark = pytest.mark.slow
DONOR = "wsrep_sst_donor"
INPUTS: dict[str, object] = {"nodes": "s3", "pause": "1 s", "soak": "3 s", "downtime": "20 s"}
WORDS = ("run", "rolling-restart", *(w for name, value in INPUTS.items() for w in ("--input", f"{name}={value}")))
FILE = "find /etc/mysql -name '*pilothouse-donor.cnf'"


def donor(estate: Estate, host: str = "s3") -> str:
    rows = estate.sql(host, f"SHOW GLOBAL VARIABLES LIKE '{DONOR}'")
    return rows[0][1] if len(rows[0]) > 1 else ""


def started_with_the_name(console: Console) -> str:
    """A console that dies just after the start; return whom the server asks now."""
    ran = console.killed_run("s3:transfer-s3=acting", "rolling-restart", **INPUTS)
    assert ran.code == KILLED, ran
    named = donor(console.estate)
    assert named.endswith(","), named
    return named


@pytest.mark.long
@pytest.mark.parametrize("found", ["", "s2"])
def test_that_an_undo_has_a_real_server_ask_whom_it_asked_before(
    steer: Estate, console: Console, whole: Whole, found: str
) -> None:
    steer.sql("s3", f"SET GLOBAL {DONOR} = '{found}'")
    named = started_with_the_name(console)
    assert named != found
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    assert donor(steer) == found
    steer.sql("s3", f"SET GLOBAL {DONOR} = ''")
    whole.assert_as_before()


@pytest.mark.long
def test_that_what_somebody_set_meanwhile_is_left_on_a_real_server(
    steer: Estate, console: Console, whole: Whole
) -> None:
    started_with_the_name(console)
    steer.sql("s3", f"SET GLOBAL {DONOR} = 's2,s1'")
    undone = console("undo", console.runs()[0], "--yes")
    console.assert_ended(RunState.UNDONE, undone)
    assert donor(steer) == "s2,s1"
    view = next(s for s in console.view().steps if s.step.step_id == "s3:name-donor-s3")
    assert view.undo is not None
    assert any("someone else has changed it since" in line for line in view.undo.evidence), view.undo.evidence
    steer.sql("s3", f"SET GLOBAL {DONOR} = ''")
    whole.assert_as_before()


@pytest.mark.long
def test_that_a_colleagues_line_in_the_donors_file_outlives_an_undo_on_a_real_server(
    steer: Estate, console: Console, whole: Whole
) -> None:
    """The file was removed with his line, without a word."""
    started_with_the_name(console)
    s3 = steer.host("s3")
    path = s3.sh(FILE).out.strip()
    s3.sh(f"echo max_connections=222 >> {path}")
    try:
        undone = console("undo", console.runs()[0], "--yes")
        console.assert_ended(RunState.UNDONE, undone)
        assert s3.sh(f"cat {path}").out == "[mysqld]\nmax_connections=222\n"
        view = next(s for s in console.view().steps if s.step.step_id == "s3:name-donor-s3")
        assert view.undo is not None
        assert any("belongs to someone else" in line for line in view.undo.evidence), view.undo.evidence
        assert donor(steer) == ""
    finally:
        s3.sh(f"rm -f {path}")
    whole.assert_as_before()


@pytest.mark.long
def test_that_a_release_where_the_server_is_down_leaves_the_word_to_the_option_files(
    steer: Estate, console: Console, whole: Whole
) -> None:
    started_with_the_name(console)
    steer.stop("s3")
    released = console("undo", console.runs()[0], "--release", "--yes")
    assert "donor:s3" not in console.open_obligations(), released
    assert steer.host("s3").sh(FILE).out.strip() == ""
    steer.start("s3")
    assert donor(steer) == ""
    undone = console("undo", console.runs()[0], "--yes")
    console.assert_ended(RunState.UNDONE, undone)
    whole.assert_as_before()


MAIN = "for i in $(seq 300); do p=$(systemctl show -p MainPID --value mariadb); [ $p != 0 ] && break; sleep 0.1; done; "
"""The server itself, not the one that recovers the position before it."""
TOLD = {"failed": "has failed (signal 9)", "inactive": "it ended, or somebody"}
"""By what systemd says of the unit's end: the sentence of the step that waited for the server."""
SEEN_S = 30.0
"""A look each second, and the reading of the log on a busy machine; the step's own limit is an hour."""


def ended(estate: Estate, host: str) -> str:
    """Return systemd's word for the unit, ended at last: a server that does not stop within 15 s is killed.

    Told to stop while it joins, MariaDB 10.11 may join and then hang for ever, 'deactivating (stop-sigterm)', its
    socket open and nobody behind it; Debian's unit gives it 15 minutes [lab: every second stop].
    """
    look = (
        "for i in $(seq 75); do systemctl is-active mariadb | grep -x -e inactive -e failed && break; sleep 0.2; done"
    )
    for kill in ("", "pkill -KILL -x -u mysql mariadbd; "):
        if word := estate.host(host).sh(kill + look, check=False).out.strip():
            return word
    raise AssertionError(f"no end: {estate.host(host).sh('systemctl status mariadb', check=False).out}")


@pytest.mark.long
@pytest.mark.parametrize("end_it", ["kill -KILL $p", "systemctl stop --no-block mariadb"])
def test_that_a_real_server_which_ends_while_it_starts_ends_the_wait_at_once(
    steer: Estate, console: Console, whole: Whole, end_it: str
) -> None:
    with console.running(*WORDS, "--yes") as running:
        running.wait_for_step("s3:start-s3", "proving")
        steer.host("s3").sh(f"{MAIN}{end_it}")
        word = ended(steer, "s3")
        running.wait_for_step("s3:start-s3", "failed", limit_s=SEEN_S)
        running.end()
    start = next(s for s in console.view().steps if s.step.step_id == "s3:start-s3")
    assert TOLD[word] in start.error, (word, start.error)
    assert start.evidence, "the last lines of its log"
    # Whether --yes may bring it back is decided by what its death left of its past.
