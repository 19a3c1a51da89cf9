"""A run that rests while all members are dead names what brings them back, and can be left. On scripted hosts."""

from __future__ import annotations

from tests.unit.app.steering_service import ROLLING, Shell, last_run
from tests.unit.discovery.scenes import estate, member, only, sql_gone


def _power_fails(shell: Shell, at: str) -> None:
    """Let every server die right behind an act, and a look tell that from then on."""

    def acted(step: str) -> None:
        if step == at:
            for host in shell.world.cluster.hosts.values():
                shell.world.cluster.kill(host)
            down = (sql_gone(member(n), process_state="", process_pid=None) for n in (1, 2, 3))
            shell.world.picture = only(estate(*down))

    shell.world.on_act = acted


def test_that_a_run_whose_cluster_is_dead_names_what_brings_it_back_and_lets_it_begin(shell: Shell) -> None:
    _power_fails(shell, "n1:start-n1")
    said = shell("run", *ROLLING, "--yes")
    assert (said.code, last_run(said)) == (4, "undo failed")
    command = "pilothouse plan bootstrap-after-crash --cluster "
    for told in (said, shell("procedures", "--runs"), shell("resume", "1", "--yes")):
        flat = " ".join(told.out.split())
        assert "All members of " in flat, told
        assert "Close run 1 as it is first: its lock blocks other runs." in flat
        assert command in flat
    (document,) = shell("procedures", "--runs", "--json").document
    assert document["ways"][-1]["code"] == "bring back"
    assert document["ways"][-1]["command"].startswith(command)

    said = shell("undo", "1", "--yes", "--leave", "the power failed")
    assert (said.code, last_run(said)) == (0, "left as it is"), "a refusal of clients ends with its server"
    assert command not in said.out, "nothing of it is in the way any more"
    planned = shell("plan", "bootstrap-after-crash")
    assert planned.code == 0, planned


def test_that_a_run_whose_cluster_serves_names_nothing_of_the_kind(shell: Shell) -> None:
    shell.world.picture = only(estate(*map(member, (1, 2, 3))))
    shell.world.cluster.hosts["n2"].fails_to_start = True
    said = shell("run", *ROLLING, "--yes")
    assert last_run(said) == "undo failed"
    assert "bootstrap-after-crash" not in said.out
