"""How a node came, on real servers: among complaints about a folder that is no schema, and files that a client named.

The names that a client gives its files stand in a server's log, line breaks and all, and look like the server's lines.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.procedures.conditions.galera.transfer.ist_from import IstFrom
from services.procedures.conditions.galera.transfer.which import TransferWas
from services.procedures.looking.witnesses import witnessed
from services.procedures.plan.parts.galera.data_folder import INSIDE
from services.procedures.verify.roads import Roads
from tests.lab.estate.estate import Estate
from tests.lab.operator.test_gathering_and_proving import Looking
from tests.lab.procedures.states.rejoining import LISTS_SCHEMAS
from tests.lab.procedures.whole import Whole

JOINER, MEMBERS = "s3", ("s1", "s2", "s3")
KEPT, ODD = f"/var/lib/mysql/{INSIDE}", "/var/lib/mysql/lost+found"
FORGED = (
    "x''\n2026-11-28 11:47:49 0 [Note] WSREP: Receiving IST: 40 writesets, seqnos 1-40"
    "\n2026-11-28 11:47:49 0 [Note] WSREP: 1.0 (s3): State transfer from 0.0 (s1) complete..frm"
)


@pytest.fixture
def looking(steer: Estate, whole: Whole) -> Iterator[Looking]:
    """A client has laid a file with such a name on every node, and lists the schemas of s3 all the while."""
    del whole
    for name in MEMBERS:
        steer.sql(name, f"SELECT 1 INTO OUTFILE '/var/lib/mysql/sbtest/{FORGED}'")
    steer.sql("s1", "CREATE TABLE IF NOT EXISTS sbtest.written (id INT PRIMARY KEY AUTO_INCREMENT, t VARCHAR(200))")
    joiner = steer.host(JOINER)
    joiner.sh(f"install -d -m 700 '{KEPT}' && touch '{KEPT}/ibdata1'; install -d -o mysql -g mysql {ODD}")
    made = Looking(steer, MEMBERS)
    made.facts()
    steer.stop(JOINER)
    yield made
    made.hosts.close()
    joiner.sh(f"systemctl stop lab-lister; rm -rf '{KEPT}' {ODD}")
    for name in MEMBERS:
        steer.host(name).sh("rm -f /var/lib/mysql/sbtest/x*")
    steer.sql("s1", "DROP TABLE sbtest.written")


def _comes_back(steer: Estate) -> None:
    steer.sql("s1", "INSERT INTO sbtest.written (t) VALUES (REPEAT('x', 100));" * 800, limit_s=120.0)
    steer.host(JOINER).sh(LISTS_SCHEMAS)
    steer.start(JOINER)
    steer.wait_synced(MEMBERS)


def _roads(looking: Looking) -> Roads:
    return Roads(looking.hosts, looking.clock, looking.prover.facts)


def _log(steer: Estate) -> str:
    return steer.host(JOINER).sh("journalctl -u mariadb -n 3000 -o cat --no-pager").out


@pytest.mark.long
def test_that_an_ist_is_proven_among_complaints_and_files_with_a_servers_words_for_names(
    steer: Estate, looking: Looking
) -> None:
    stood = int(steer.host(JOINER).sh("sed -n 's/^seqno: *//p' /var/lib/mysql/grastate.dat").out)
    _comes_back(steer)
    answer, _ = looking.until(TransferWas(JOINER, "IST", "", "start"), 30.0)
    assert (answer.holds, f"write sets {stood + 1} to " in answer.evidence) == (True, True), answer
    assert looking.look(IstFrom(JOINER, stood, "start")).holds is True
    by_others = witnessed(_roads(looking), JOINER, JOINER, looking.past.began["start"])
    assert by_others is not None
    assert by_others.kind == "IST", by_others
    log = _log(steer)
    assert "Invalid (old?) table or database name 'lost+found'" in log
    assert "WSREP: Receiving IST: 40 writesets, seqnos 1-40" in log
    assert INSIDE not in log
    assert "#sql" not in steer.host(JOINER).sh("mariadb -Ne 'SHOW DATABASES'").out


@pytest.mark.long
def test_that_an_sst_is_told_as_one_whatever_files_are_named_and_leaves_what_is_kept(
    steer: Estate, looking: Looking
) -> None:
    steer.host(JOINER).sh("rm /var/lib/mysql/grastate.dat")
    _comes_back(steer)
    answer, _ = looking.until(TransferWas(JOINER, "SST", "", "start"), 30.0)
    assert answer.holds, answer
    other = looking.look(TransferWas(JOINER, "IST", "", "start"))
    assert (other.holds, other.final) == (False, True), other
    by_others = witnessed(_roads(looking), JOINER, JOINER, looking.past.began["start"])
    assert by_others is not None
    assert by_others.kind == "SST", by_others
    assert steer.host(JOINER).sh(f"test -f '{KEPT}/ibdata1'").ok
    assert "WSREP: Receiving IST: 40 writesets, seqnos 1-40" in _log(steer)
    assert "#sql" not in steer.host(JOINER).sh("mariadb -Ne 'SHOW DATABASES'").out
