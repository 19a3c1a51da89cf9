"""A colleague changes an option file after a run wrote it, on scripted hosts: an undo loses none of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.cli.steering import exit_code
from services.connections.reads import commands
from services.connections.reads.registry import command_of
from services.procedures.plan.looks import not_back
from services.procedures.plan.run_model import RunState
from services.procedures.report.first import not_known
from tests.faults.cases import CASES
from tests.faults.scripted.cluster import whole
from tests.faults.scripted.running import Bench, Killed

OWN = "/etc/mysql/mariadb.conf.d/99-pilothouse.cnf"
SHARED = "/etc/mysql/mariadb.conf.d/90-lab.cnf"
OPTION = {"nodes": "n3", "pause": "1 s", "option": "max_connections", "value": "321"}


def written(**more: str) -> Bench:
    """Return a run that was killed when it had written the option."""
    bench = Bench(whole("n1", "n2", "n3"), "rolling-restart", OPTION | more)
    bench.begin()

    def told(when: str, what: str) -> None:
        if when == "after" and "(step n3:option done)" in what:
            raise Killed

    bench.journal.told = told
    with pytest.raises(Killed):
        bench.run()
    bench.journal.told = None
    return bench


def test_that_a_line_of_somebody_else_in_the_runs_own_file_outlives_the_undo_on_scripted_hosts() -> None:
    bench = written()
    files = bench.cluster.hosts["n3"].files
    files[OWN] += "max_allowed_packet = 64M\n"
    assert bench.engine().undo() is RunState.UNDONE
    assert files[OWN] == "[mysqld]\nmax_allowed_packet = 64M\n"
    assert exit_code(bench.engine().view, "undo") == 0, "all that the run did is back"


def test_that_a_file_whose_line_somebody_else_changed_is_kept_and_told_on_scripted_hosts() -> None:
    bench = written()
    files = bench.cluster.hosts["n3"].files
    files[OWN] = files[OWN].replace("321", "999")
    assert bench.engine().undo() is RunState.UNDONE
    view = bench.engine().view
    assert "999" in files[OWN]
    assert "All changes of the run were rolled back" not in view.sentence
    assert f"Not restored: {OWN} on n3 was changed by someone else since" in view.sentence
    assert exit_code(view, "undo") == 4
    assert bench.cluster.hosts["n3"].running, "the rest is taken back all the same"
    lost = [getattr(block, "text", "") for block in not_known(view, ())]
    assert any(f"Not restored: {OWN}" in text for text in lost)


# -- files that a run puts there for a while ---------------------------------------------------------------------------

SWITCHED_ON = {
    "rolling-restart": ("99-pilothouse-donor.cnf", "90-pilothouse.conf"),
    "rejoin-from-binlogs": ("99-pilothouse-donor.cnf", "99-pilothouse-held-out.cnf", "91-pilothouse-hold.conf"),
    "sst-tuning": ("90-pilothouse-joins.conf",),
}
TRIED = [(name, file) for name, files in SWITCHED_ON.items() for file in files]
THEIRS = "# a colleague's\nskip-name-resolve\n"


class Colleague:
    """Changes a file of a run's as soon as it counts there, on one host, and has systemd read it."""

    def __init__(self, name: str, file: str, change: Callable[[str], str]) -> None:
        case = next(one for one in CASES if one.name == name)
        self.bench = case.bench()
        self.bench.begin()
        self.bench.on_failure = "ask"
        self.changed, self.path = "", ""
        self._file, self._change = file, change
        self.bench.journal.told = self._told

    @property
    def files(self) -> dict[str, str]:
        """The files of the host where he changed one."""
        return self.bench.cluster.hosts[self.changed].files

    def _told(self, when: str, what: str) -> None:
        del when, what
        for host in self.bench.cluster.hosts.values():
            for path, text in host.files.items():
                known = text in host.loaded or path.endswith(".cnf")
                if path.endswith(self._file) and known and not self.changed:
                    self.changed, self.path = host.name, path
                    host.files[path] = self._change(text)
                    host.loaded = host.drop_ins
                    return


@pytest.mark.parametrize(("name", "file"), TRIED, ids=str)
def test_that_lines_of_somebody_else_outlive_what_a_run_switched_on_for_a_while_on_scripted_hosts(
    name: str, file: str
) -> None:
    """All of the file was removed with them, without a word."""
    met = Colleague(name, file, lambda text: text + THEIRS)
    assert met.bench.run() is RunState.DONE, met.bench.engine().view.sentence
    assert command_of(commands.CONTENT.read(met.path)), "its proof may read it on a host"
    left = met.files[met.path]
    assert "skip-name-resolve" in left
    assert "a colleague's" in left
    assert "wsrep" not in left
    assert "Restart=" not in left
    assert "Assert" not in left
    assert "ExecStartPre" not in left


@pytest.mark.parametrize("name", ["rolling-restart", "rejoin-from-binlogs"])
def test_that_a_donor_whom_somebody_else_named_in_the_runs_file_stays_named_on_scripted_hosts(name: str) -> None:
    """The run's own line is gone by that: nothing is left to remove, and the proof does not wait for the file."""
    met = Colleague(name, "99-pilothouse-donor.cnf", lambda text: text.replace(",\n", ",n9\n"))
    state = met.bench.run()
    assert ",n9" in met.files[met.path]
    if state is not RunState.DONE:  # what the next start asks is proven before it: that named somebody else
        assert met.bench.engine().undo() is RunState.UNDONE
        assert ",n9" in met.files[met.path]


def test_that_a_line_of_the_run_in_the_midst_of_anothers_is_named_and_the_way_on_is_open_on_scripted_hosts() -> None:
    """It stands twice: which of them is the colleague's nobody knows. He takes it out, and the undo goes on."""
    met = Colleague("rolling-restart", "90-pilothouse.conf", lambda text: f"{text}[Unit]\n# mine\nRestart=no\n")
    assert met.bench.run() is RunState.FAILED, (
        "its proof says which lines (tests/unit/procedures/runs/test_withdrawn.py)"
    )
    assert "# mine\nRestart=no" in met.files[met.path]
    met.files[met.path] = "[Unit]\n# mine\n"
    assert met.bench.engine().undo() is RunState.UNDONE
    assert met.files[met.path] == "[Unit]\n# mine\n"


@pytest.mark.parametrize("accepted", [True, False])
def test_that_a_file_a_person_was_asked_to_edit_is_not_put_back_unasked_on_scripted_hosts(
    accepted: bool,
) -> None:
    bench = written(work="yes", file=SHARED)
    files = bench.cluster.hosts["n3"].files
    before = bench.cluster.hosts["n3"].kept[SHARED] or ""
    files[SHARED] += "max_allowed_packet = 64M\n"
    bench.confirmed = frozenset({"edit n3"} if accepted else ())
    assert bench.engine().undo() is RunState.UNDONE
    view = bench.engine().view
    assert "max_allowed_packet = 64M" in files[SHARED]
    if accepted:
        assert files[SHARED] == before + "max_allowed_packet = 64M\n"
        assert not not_back(view.kept)
        return
    assert "max_connections = 321" in files[SHARED]
    assert "asked for work there" in view.sentence
    assert exit_code(view, "undo") == 4
    assert bench.cluster.hosts["n3"].running
