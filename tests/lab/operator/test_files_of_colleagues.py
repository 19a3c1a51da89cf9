"""Real hosts on which somebody changed what a run put there, or laid a pipe where a file is read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.connections.command import Command
from services.connections.reads import commands
from services.procedures.conditions.machine.files import FileWithout
from services.procedures.conditions.machine.unit import UnitSetting
from services.procedures.plan.actions import PutFile, RemoveFile, Run, Several
from services.procedures.plan.looks import Past
from services.procedures.plan.remembering import Memory
from services.procedures.verify.prover import RealProver
from tests.lab.estate.estate import Estate, Host
from tests.lab.operator.operating import CLOCK, LOGINS, actor, armed, operated

HOST, UNIT = "s3", "mariadb.service"
FOLDER = f"/run/systemd/system/{UNIT}.d"
FILE, WROTE = f"{FOLDER}/90-pilothouse.conf", "[Service]\nRestart=no\n"
ODD = "/srv/lab-odd/grastate.dat"
RELOAD = Run(Command(("systemctl", "daemon-reload"), sudo=True))


@pytest.fixture
def host(steer: Estate) -> Iterator[Host]:
    made = steer.host(HOST)
    made.sh("mkdir -p /srv/lab-odd; chown mysql:mysql /srv/lab-odd")
    yield made
    made.sh(f"rm -rf {FOLDER} /srv/lab-odd; systemctl daemon-reload")


@pytest.mark.long
@pytest.mark.parametrize("login", LOGINS)
def test_that_a_colleagues_line_in_a_drop_in_of_the_runs_outlives_its_end(
    steer: Estate, host: Host, login: str
) -> None:
    off = Several((PutFile(FILE, (WROTE,)), RELOAD))
    on = Several((RemoveFile(FILE, WROTE), RELOAD))
    entry = operated(steer, HOST, login)
    before = host.sh(f"systemctl show -p Restart {UNIT}").out
    with actor(steer, entry) as made:
        made.perform("off", HOST, off, {}, limit_s=30)
        assert host.sh(f"systemctl show -p Restart {UNIT}").out == "Restart=no\n"
        host.sh(f"echo LimitNOFILE=77777 >> {FILE}; systemctl daemon-reload")
        told = made.perform("on", HOST, on, {}, limit_s=30)
        assert any("was changed by someone else since" in line for line in told.output), told
        assert host.sh(f"cat {FILE}; stat -c '%U:%G %a' {FILE}").out == (
            "[Service]\nLimitNOFILE=77777\nroot:root 644\n"
        )
        assert host.sh(f"systemctl show -p Restart {UNIT}").out == before
        made.perform("on", HOST, on, {}, limit_s=30)
        assert "LimitNOFILE" in host.sh(f"cat {FILE}").out, "told twice, it takes nothing more"
    with armed(steer, entry) as hosts:
        prover, past = RealProver(hosts, CLOCK), Past({}, {})
        answer = prover.look(FileWithout(HOST, FILE, WROTE), past, Memory())
        assert (answer.holds, "belongs to someone else" in answer.evidence) == (True, True), answer
        assert prover.look(UnitSetting(HOST, UNIT, "NeedDaemonReload", "no"), past, Memory()).holds
    with actor(steer, entry) as made:
        host.sh(f"printf '[Service]\\nRestart=no\\n' > {FILE}")
        made.perform("on", HOST, on, {}, limit_s=30)
        assert not host.sh(f"test -e {FILE}", check=False).ok


@pytest.mark.long
@pytest.mark.parametrize("login", LOGINS)
@pytest.mark.parametrize("laid", [f"mkfifo {ODD}", f"ln -s /dev/zero {ODD}"])
def test_that_a_read_of_a_pipe_or_a_device_ends_at_once_and_leaves_nothing_behind(
    steer: Estate, host: Host, login: str, laid: str
) -> None:
    host.sh(f"rm -f {ODD}; runuser -u mysql -- {laid}")
    with armed(steer, operated(steer, HOST, login)) as hosts:
        session = hosts.observer(HOST)
        ended = session.run(commands.CONTENT.read(ODD, sudo=True), limit_s=20.0)
        assert (ended.exit_code, ended.error_text) == (73, f"{ODD} is no regular file: not read")
        assert session.run(commands.CONTENT.read("/etc/os-release"), limit_s=20.0).exit_code == 0
    assert ODD not in host.sh("ps -C cat -o args=", check=False).out
