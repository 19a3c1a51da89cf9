"""One real obstacle for each blocking preflight: the run is refused, says why, and changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.lab.estate.estate import Estate
from tests.lab.procedures import obstacles
from tests.lab.procedures.obstacles import Refusal, nothing, option_file, setting, shell
from tests.lab.procedures.steering import Console
from tests.lab.procedures.whole import Whole, members
from tests.lab.procedures.writer import Writer

BACKUP, ROLLING, ADD = "desync-for-backup", "rolling-restart", "add-node"
NODE: dict[str, object] = {"node": "s3"}
JOINER: dict[str, object] = {"joiner": "new"}
DESYNCED = setting("s2", "wsrep_desync", "ON", "OFF")
ADDRESS = setting("s2", "wsrep_sst_donor", "'10.213.4.41'", "''")
ENCRYPTED = option_file("s2", "[sst]\nencrypt=3\n")
NONSENSE = option_file("s2", "[mysqld]\nno_such_option=1\n")
ORPHAN = shell(
    "s2",
    "setsid bash -c 'exec -a wsrep_sst_mariabackup sleep 300' >/dev/null 2>&1 & sleep 0.3",
    "pkill -f '[w]srep_sst_mariabackup'; true",
)
NO_WAY = shell("new", "ip route add unreachable 10.213.4.41/32", "ip route del unreachable 10.213.4.41/32")
NO_SUDO = ('sudo = "nopasswd"', 'sudo = "none"')
NO_SOCAT = shell("new", "mv /usr/bin/socat /usr/bin/socat.away", "mv /usr/bin/socat.away /usr/bin/socat")
ASIDE = shell("new", "mkdir /var/lib/mysql.pilothouse-before", "rmdir /var/lib/mysql.pilothouse-before")

REFUSALS = (
    Refusal(BACKUP, "HEALTH-GATE", DESYNCED, NODE),
    Refusal(BACKUP, "NO-TRANSFER-OR-DDL", obstacles.ddl_running, NODE),
    Refusal(BACKUP, "OPERATOR-RIGHTS", nothing, NODE, inventory=NO_SUDO),
    Refusal(BACKUP, "LOCK-FREE", obstacles.locked, NODE),
    Refusal(ROLLING, "HEALTH-GATE", DESYNCED),
    Refusal(ROLLING, "CLUSTER-SIZE", obstacles.node_down),
    Refusal(ROLLING, "NO-TRANSFER-OR-DDL", obstacles.ddl_running),
    Refusal(ROLLING, "OPERATOR-RIGHTS", nothing, inventory=NO_SUDO),
    Refusal(ROLLING, "LOCK-FREE", obstacles.locked),
    Refusal(ROLLING, "CONFIG-VALID", NONSENSE),
    Refusal(ROLLING, "SST-SECTION", ENCRYPTED),
    Refusal(ROLLING, "DONOR-NAMES", ADDRESS),
    Refusal(ROLLING, "SST-ORPHANS", ORPHAN),
    Refusal(ADD, "HEALTH-GATE", DESYNCED, JOINER),
    Refusal(ADD, "NO-TRANSFER-OR-DDL", obstacles.ddl_running, JOINER),
    Refusal(ADD, "OPERATOR-RIGHTS", nothing, JOINER, inventory=NO_SUDO),
    Refusal(ADD, "LOCK-FREE", obstacles.locked, JOINER),
    Refusal(ADD, "DONOR-NAMES", ADDRESS, JOINER),
    Refusal(ADD, "DATADIR-FOREIGN", obstacles.foreign_data, JOINER, final=True),
    Refusal(ADD, "TRANSFER", nothing, {**JOINER, "sst_ok": "no"}),
    Refusal(ADD, "KEEP-DATA", nothing, {**JOINER, "keep_data": "yes"}, final=True),
    Refusal(ADD, "DISK-FREE", obstacles.large_data, JOINER, final=True),
    Refusal(ADD, "SST-TOOLS", NO_SOCAT, JOINER),
    Refusal(ADD, "PORTS", NO_WAY, JOINER),
    Refusal(ADD, "CLOCKS", obstacles.skewed, JOINER),
    Refusal(ADD, "NODE-NAME", nothing, {**JOINER, "node_name": "s1"}),
    Refusal(ADD, "ASIDE-FREE", ASIDE, JOINER),
    Refusal("freeze-gcache", "FREEZE-CAPABILITY", nothing, {"node": "s3", "donor": "s1"}, final=True),
    Refusal("freeze-gcache", "DONOR-STAYS", nothing, {"node": "s3", "donor": "s1", "donor_stays": "no"}),
)


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_that_a_procedure_is_refused_while_this_stands_in_its_way(
    steer: Estate, console: Console, whole: Whole, tmp_path: Path, refusal: Refusal
) -> None:
    known, other = refusal.inventory
    if known:
        console.inventory = tmp_path / "inventory.toml"
        console.inventory.write_text((steer.client_dir / "inventory-all.toml").read_text().replace(known, other))
    with refusal.obstacle(steer):
        more = ("--override", f"{refusal.code}=it is only a test") if refusal.final else ()
        ran = console.run(refusal.procedure, "--json", *more, **refusal.inputs)
        assert ran.code == 1, ran
        _assert_blocked(ran.document(), refusal.code)
        assert console.runs() == ()
    whole.assert_as_before()


def _assert_blocked(document: dict[str, object], code: str) -> None:
    checks = document["checks"]
    assert isinstance(checks, list)
    blocked = [check for check in checks if check["verdict"] == "block"]
    assert code in {check["code"] for check in blocked}, json.dumps(blocked, indent=1)
    (check, *_) = [check for check in blocked if check["code"] == code]
    assert check["evidence"]
    assert check["why"]


def test_that_a_node_is_not_restarted_while_no_cache_lasts_until_it_is_back(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with Writer(steer, members(steer), rate=80):
        ran = console.run(ROLLING, downtime="20 d")
        assert ran.code == 1, ran
        assert "IST-REACH" in ran.out + ran.err, ran
    whole.assert_as_before()


def test_that_a_named_block_is_accepted_with_a_reason_and_kept(steer: Estate, console: Console, whole: Whole) -> None:
    with ENCRYPTED(steer):
        ran = console("plan", ROLLING, "--override", "SST-SECTION=an SST is never taken here")
        assert ran.code == 0, ran
        without = console("plan", ROLLING, "--override", "SST-SECTION=")
        assert without.code == 2, without
    whole.assert_as_before()


@pytest.mark.slow
def test_that_nothing_is_bootstrapped_beside_a_primary_component(steer: Estate, console: Console, whole: Whole) -> None:
    with obstacles.node_down(steer):
        ran = console.run("bootstrap-after-crash", "--override", "PRIMARY-EXISTS=I know better")
        assert ran.code == 1, ran
        assert "PRIMARY-EXISTS" in ran.out + ran.err, ran
        assert console.runs() == ()
    whole.assert_as_before()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "uuids"),
    [
        ("UUID-MISMATCH", {"s2": obstacles.OTHER_UUID}),
        ("NULL-UUID", {"s1": obstacles.ZERO_UUID, "s2": obstacles.ZERO_UUID, "s3": obstacles.ZERO_UUID}),
    ],
)
def test_that_no_history_is_bootstrapped_that_would_overwrite_another(
    steer: Estate, console: Console, whole: Whole, code: str, uuids: dict[str, str]
) -> None:
    with obstacles.states_replaced(**uuids)(steer):
        ran = console.run("bootstrap-after-crash", "--override", f"{code}=I know better")
        assert ran.code == 1, ran
        assert code in ran.out + ran.err, ran
        assert console.runs() == ()
        for name in members(steer):
            assert not steer.host(name).sh("pgrep -x mariadbd", check=False).ok
    whole.assert_as_before()
