"""A colleague changes an option file after a run wrote it, on scripted hosts: an undo loses none of it."""

from __future__ import annotations

import pytest

from app.cli.steering import exit_code
from services.procedures.plan.looks import not_back
from services.procedures.plan.run_model import RunState
from services.procedures.report.first import not_known
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
    assert "All that it changed was taken back" not in view.sentence
    assert f"Not taken back: {OWN} on n3 was changed by somebody else since" in view.sentence
    assert exit_code(view, "undo") == 4
    assert bench.cluster.hosts["n3"].running, "the rest is taken back all the same"
    lost = [getattr(block, "text", "") for block in not_known(view, ())]
    assert any(f"Not taken back: {OWN}" in text for text in lost)


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
    assert "had asked for work there" in view.sentence
    assert exit_code(view, "undo") == 4
    assert bench.cluster.hosts["n3"].running
