"""One real obstacle for each blocking preflight: the run is refused, says why, and changes nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.states import obstacles
from tests.lab.procedures.states import obstacles_after_crash as after_crash
from tests.lab.procedures.states.obstacles import (
    Refusal,
    assert_refused,
    disk_nearly_full,
    no_way,
    nothing,
    option_file,
    setting,
    shell,
    together,
)
from tests.lab.procedures.states.writer import Writer
from tests.lab.procedures.whole import Whole, members
from tests.sample import sampled

BACKUP, ROLLING, ADD, CRASH = "desync-for-backup", "rolling-restart", "add-node", "bootstrap-after-crash"
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
# Whichever of the two is the better donor for s2 today: by its cache, that may be either.
SHORT_NAMES = together(
    setting("s1", "wsrep_node_name", "'s'", "'s1'"), setting("s3", "wsrep_node_name", "'s2'", "'s3'")
)
NO_SUDO = ('sudo = "nopasswd"', 'sudo = "none"')
NO_SOCAT = shell("new", "mv /usr/bin/socat /usr/bin/socat.away", "mv /usr/bin/socat.away /usr/bin/socat")
NOBODY_TO_JOIN = option_file("s2", "[mysqld]\nwsrep_cluster_address=gcomm://\n")
LEFT_FROM_A_BOOTSTRAP = option_file("new", "[mysqld]\nwsrep_new_cluster=1\n")
OTHER_CLUSTER = option_file("s3", "[mysqld]\nwsrep_cluster_name=another\n")
NO_PROVIDER = shell(
    "new",
    "mv /usr/lib/galera/libgalera_smm.so /usr/lib/galera/away.so",
    "mv /usr/lib/galera/away.so /usr/lib/galera/libgalera_smm.so",
)
CERTIFICATE = option_file("s1", "[sst]\ntca=/etc/mysql/tls/ca.pem\n")
"""The members have that file, a new host has none."""
SECRET_KEY = option_file("s1", "[sst]\nencrypt=1\nencrypt-key=0123456789abcdef0123456789abcdef\n")
ENCRYPTED_TRAFFIC = option_file(
    "s3",
    '[mysqld]\nwsrep_provider_options="gcache.size=128M;socket.ssl=yes;socket.ssl_ca=/etc/mysql/tls/ca.pem;'
    'socket.ssl_cert=/etc/mysql/tls/server.pem;socket.ssl_key=/etc/mysql/tls/server.key"\n',
)
ASIDE = shell("new", "mkdir /var/lib/mysql.pilothouse-before", "rmdir /var/lib/mysql.pilothouse-before")

ALL: tuple[tuple[str, dict[str, object]], ...] = ((BACKUP, NODE), (ROLLING, {}), (ADD, JOINER))
FREEZE: dict[str, object] = {"node": "s3", "donor": "s1"}


def _add(**more: object) -> tuple[tuple[str, dict[str, object]], ...]:
    return ((ADD, {**JOINER, **more}),)


REFUSALS = (
    Refusal("HEALTH-GATE", DESYNCED, ALL),
    Refusal("NO-TRANSFER-OR-DDL", obstacles.ddl_running, ALL),
    Refusal("OPERATOR-RIGHTS", nothing, ALL, inventory=NO_SUDO),
    Refusal("LOCK-FREE", obstacles.locked, ALL),
    Refusal("DONOR-NAMES", ADDRESS, ALL[1:]),
    Refusal("CLUSTER-SIZE", obstacles.node_down, ALL[1:2]),
    Refusal("CONFIG-VALID", NONSENSE, ALL[1:2]),
    Refusal("SST-SECTION", ENCRYPTED, ALL[1:2]),
    Refusal("SST-ORPHANS", ORPHAN, ALL[1:2]),
    Refusal("RUNS-OUTSIDE", obstacles.one_outside, _add(), final=True),
    Refusal("DATADIR-FOREIGN", obstacles.foreign_data, _add(), final=True),
    Refusal("TRANSFER", nothing, _add(sst_ok="no")),
    Refusal("KEEP-DATA", nothing, _add(keep_data="yes"), final=True),
    Refusal("DISK-FREE", disk_nearly_full("s1"), _add(donor="s1"), final=True),
    Refusal("SST-TOOLS", NO_SOCAT, _add()),
    Refusal("PORTS", no_way("new", "s1"), _add()),
    Refusal("CLOCKS", obstacles.skewed, _add()),
    Refusal("NODE-NAME", nothing, _add(node_name="s1")),
    Refusal("ASIDE-FREE", ASIDE, _add(keep_data="yes")),
    Refusal("SST-ACCOUNT", obstacles.account_without_rights, _add(donor="s1")),
    Refusal("SST-ACCOUNT", obstacles.account_with_another_password, _add(donor="s1")),
    Refusal("PROVIDER-PROTOCOL", obstacles.older_protocol, _add(joiner="s3")),
    Refusal("NETWORK-FIRST", after_crash.parted, ((CRASH, {}),)),
    Refusal("CHOSEN-BEHIND", after_crash.parted, ((CRASH, {"bootstrap": "s1"}),)),
    Refusal("DONOR-PREFIX", SHORT_NAMES, ALL[1:2]),
    Refusal("OTHERS-STAY", obstacles.node_down, ((BACKUP, {"node": "s2"}),)),
    Refusal("JOINS-OTHERS", NOBODY_TO_JOIN, ALL[1:2]),
    Refusal("JOINS-OTHERS", LEFT_FROM_A_BOOTSTRAP, _add(), final=True),
    Refusal("CLUSTER-NAME", together(obstacles.node_down, OTHER_CLUSTER), _add(joiner="s3")),
    Refusal("JOINER-RUNS", obstacles.locked_out, _add(joiner="s3"), final=True),
    Refusal("PROVIDER-FILE", NO_PROVIDER, _add()),
    Refusal("SST-SECRETS", SECRET_KEY, _add(donor="s1")),
    Refusal("TRAFFIC-FILES", CERTIFICATE, _add(donor="s1")),
    Refusal("TRAFFIC-TLS", together(obstacles.node_down, ENCRYPTED_TRAFFIC), _add(joiner="s3")),
    Refusal("FREEZE-CAPABILITY", nothing, (("freeze-gcache", FREEZE),), final=True),
    Refusal("DONOR-STAYS", nothing, (("freeze-gcache", {**FREEZE, "donor_stays": "no"}),)),
)


QUICK = (
    "HEALTH-GATE", "OPERATOR-RIGHTS", "LOCK-FREE", "CONFIG-VALID", "DATADIR-FOREIGN", "NETWORK-FIRST",
)  # fmt: skip
"""A test run's sample: of every kind of obstacle (setting, file, network, input) some."""


@pytest.mark.parametrize("refusal", sampled(REFUSALS, lambda refusal: refusal.code not in QUICK))
def test_that_procedures_are_refused_while_this_stands_in_their_way(
    steer: Estate, steer_before: Whole, tmp_path: Path, refusal: Refusal
) -> None:
    inventory = tmp_path / "inventory.toml"
    text = (steer.client_dir / "inventory-all.toml").read_text(encoding="utf-8")
    inventory.write_text(text.replace(*refusal.inventory) if refusal.inventory[0] else text, encoding="utf-8")
    more = ("--override", f"{refusal.code}=it is only a test") if refusal.final else ()
    consoles = {name: Console(steer, tmp_path / name, inventory) for name, _ in refusal.procedures}
    with steer_before.kept(), refusal.obstacle(steer), ThreadPoolExecutor(len(consoles)) as pool:
        trials = {
            name: pool.submit(consoles[name].run, name, "--json", *more, **inputs)
            for name, inputs in refusal.procedures
        }
        for name, trial in trials.items():
            ran = trial.result()
            assert_refused(ran, refusal.code)
            assert consoles[name].runs() == ()
    steer_before.assert_as_before()


@pytest.mark.long
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


@pytest.mark.long
@pytest.mark.slow
def test_that_nothing_is_bootstrapped_beside_a_primary_component(steer: Estate, console: Console, whole: Whole) -> None:
    with obstacles.node_down(steer):
        ran = console.run(CRASH, "--override", "PRIMARY-EXISTS=I know better")
        assert ran.code == 1, ran
        assert "PRIMARY-EXISTS" in ran.out + ran.err, ran
        assert console.runs() == ()
    whole.assert_as_before()


@pytest.mark.slow
@pytest.mark.long
def test_that_a_node_whose_recovered_data_are_another_clusters_is_not_started(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with after_crash.another_history(steer):
        ran = console.run(ADD, joiner="s3")
        assert ran.code == 3, ran
        view = console.assert_ended(RunState.UNDONE, ran)
        assert "RECOVERED-HISTORY" in " ".join(step.error for step in view.steps), ran
        assert not steer.host("s3").sh("pgrep -x mariadbd", check=False).ok
    whole.assert_as_before()
