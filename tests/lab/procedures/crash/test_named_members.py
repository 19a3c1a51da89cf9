"""A third member that no inventory and no wsrep_cluster_address names: a view that s2 left behind does, and it counts.

Before, bootstrap-after-crash said 'every member answers' and made a second Primary beside the one that a colleague had
bootstrapped there: the rows that were acknowledged on each side stood on that side only.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from services.procedures.catalogue.checks.named import CODE
from tests.lab.estate.client import inventory
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console, Ran
from tests.lab.procedures.scenarios import CONFIRM
from tests.lab.procedures.states.forks import LEDGER, acknowledge, kill_all, make_ledger
from tests.lab.procedures.states.obstacles import GRASTATE
from tests.lab.procedures.whole import Whole

OPTIONS = "/etc/mysql/mariadb.conf.d"


def console_of_two(steer: Estate, folder: Path, *, networks: tuple[str, ...] = ()) -> Console:
    """Return a workstation whose inventory has s1 and s2, and may ask nobody else but in these networks.

    The spare host left for good: a test before may have let it join, and the members' logs name it still.
    """
    text = inventory(steer.spec, ("s1", "s2"))
    cluster = f'[[cluster]]\nname = "pair"\nseeds = ["s1", "s2"]\nretired = ["new"]\nnetworks = {list(networks)!r}\n'
    cluster = cluster.replace("'", '"')
    head, _, rest = text.partition("[[cluster]]")
    file = folder / "pair.toml"
    file.write_text(head + cluster + "\n" + rest[rest.index("[[host]]") :], encoding="utf-8")
    return Console(steer, folder / "data", file)


def third_member_in_no_file(steer: Estate) -> frozenset[int]:
    """All were killed; s3, which the option files of s1 and s2 don't name, was bootstrapped by a colleague and serves.

    Returns the rows that s3 alone acknowledged.
    """
    pair = ",".join(steer.spec.address(name) for name in ("s1", "s2"))
    line = f"s|^wsrep_cluster_address.*|wsrep_cluster_address = gcomm://{pair}|"
    for name in ("s1", "s2", "s3"):
        steer.host(name).sh(f"grep -rl ^wsrep_cluster_address {OPTIONS} | xargs -r sed -i '{line}'")
    make_ledger(steer)
    kill_all(steer)
    steer.host("s3").sh(
        f"sed -i 's/safe_to_bootstrap: 0/safe_to_bootstrap: 1/' {GRASTATE}; timeout 60 galera_new_cluster"
    )
    return acknowledge(steer, "s3", 1_000, 26)


def check_of(ran: Ran, code: str) -> dict[str, object]:
    return next(check for check in ran.document()["checks"] if check["code"] == code)


def assert_one_primary(steer: Estate, rows: frozenset[int]) -> None:
    """Assert that s3 is Primary alone with its rows, and that no server of the others runs."""
    assert steer.sql("s3", "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_status'")[0][1] == "Primary"
    there = {int(row[0]) for row in steer.sql("s3", f"SELECT id FROM {LEDGER}")}
    assert rows <= there
    for name in ("s1", "s2"):
        assert not steer.host(name).sh("pgrep -x mariadbd || true").out.strip()


@pytest.mark.long
@pytest.mark.slow
def test_that_a_third_member_that_only_a_view_left_behind_names_blocks_the_bootstrap_until_it_is_accepted_by_name(
    steer: Estate, whole: Whole, tmp_path: Path
) -> None:
    console = console_of_two(steer, tmp_path)
    rows = third_member_in_no_file(steer)
    ran = console("plan", "bootstrap-after-crash", "--json")
    named = check_of(ran, CODE)
    assert CODE in ran.document()["refused"], ran
    assert named["absolute"]
    for word in ("s3", steer.spec.address("s3"), "gvwstate.dat of s2", "the log of s2"):
        assert word in str(named["evidence"]), named
    refused = console.run("bootstrap-after-crash", bootstrap="s2")
    assert refused.code == 1, refused
    assert_one_primary(steer, rows)
    # Accepted by name, though it serves: the members see that it listens.
    served = console.run("bootstrap-after-crash", *CONFIRM, bootstrap="s2", gone="s3")
    assert served.code == 1, served
    assert " is not off: " in " ".join(served.out.split()), served
    assert_one_primary(steer, rows)
    # It died since: accepted by name the rest goes on, and what it may have had is typed.
    steer.kill9("s3")
    ran = console("plan", "bootstrap-after-crash", "--input", "bootstrap=s2", "--input", "gone=s3", "--json")
    assert ran.document()["refused"] == [], ran
    whole.restore()


@pytest.mark.long
@pytest.mark.slow
def test_that_a_third_member_that_may_be_asked_is_asked_and_is_primary(
    steer: Estate, whole: Whole, tmp_path: Path
) -> None:
    console = console_of_two(steer, tmp_path, networks=(f"{steer.spec.network}.0/24",))
    rows = third_member_in_no_file(steer)
    ran = console("plan", "bootstrap-after-crash", "--json")
    primary = check_of(ran, "PRIMARY-EXISTS")
    assert "PRIMARY-EXISTS" in ran.document()["refused"], ran
    assert str(primary["evidence"]).startswith("Primary on s3")
    assert_one_primary(steer, rows)
    whole.restore()
