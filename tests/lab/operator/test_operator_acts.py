"""Acts on real hosts: files edited and put back, secrets copied unseen, long work that outlives its console."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.connections.command import Command
from services.connections.sql.statement import set_global
from services.errors import TimedOut, Unreachable, UserError
from services.procedures.engine.ports import Acted, ActFailed
from services.procedures.execute.acting import RealActor
from services.procedures.execute.acting_output import Cancelled
from services.procedures.plan.actions import (
    Action,
    CopiedSecret,
    Detached,
    EditOptions,
    PutFile,
    RemoveFile,
    RestoreFile,
    Run,
    Several,
    Sql,
)
from services.procedures.plan.model import Plan, Step
from tests.lab.estate.estate import Estate, Host
from tests.lab.operator.operating import CLOCK, LOGINS, RUN, actor, armed, operated
from tests.sample import sampled

HOST = "r1"
FILE = "/etc/mysql/mariadb.conf.d/97-acts.cnf"
KEPT = f"{FILE}.pilothouse-{RUN}"
ROOT = Path(__file__).resolve().parents[3]


def do(made: RealActor, action: Action, limit_s: float = 30.0, host: str = HOST, **more: object) -> Acted:
    return made.perform("step", host, action, {}, limit_s=limit_s, **more)  # type: ignore[arg-type]


def plan_of(*actions: Action) -> Plan:
    steps = tuple(Step(f"s{n}", HOST, "Do it", action) for n, action in enumerate(actions))
    return Plan("x", "x", "x", "c", "c", (HOST, "r2"), (), (), steps)


def ends(name: str, seconds: float, code: int = 0) -> Detached:
    script = f"echo began >> /run/acts-count; sleep {seconds}; echo 'the $HOME value=17'; exit {code}"
    return Detached(Command(("sh", "-c", script), sudo=True), name, keep="v", pattern=r"value=(\d+)")


@pytest.fixture
def host(replication: Estate) -> Iterator[Host]:
    made = replication.host(HOST)
    made.sh(f"rm -f {FILE}* /run/acts-count")
    yield made
    made.sh(f"rm -f {FILE}* /run/acts-count")
    left = made.sh(
        "ls -A /run/pilothouse 2>/dev/null; systemctl list-units --all --no-legend 'pilothouse-*'", check=False
    )
    made.sh("systemctl stop 'pilothouse-*'; systemctl reset-failed 'pilothouse-*'; rm -rf /run/pilothouse", check=False)
    assert left.out == ""


@pytest.mark.parametrize("login", sampled(LOGINS, lambda login: login == "dba"))
def test_that_an_edited_file_keeps_owner_and_mode_and_comes_back_as_it_was_even_after_a_repeat(
    replication: Estate,
    host: Host,
    login: str,
) -> None:
    text = "# own\\n[mysqld]\\nmax_connections=77 # why\\nxyz"
    host.sh(f"printf '{text}' > {FILE}; chown mysql:root {FILE}; chmod 640 {FILE}")
    before = host.sh(f"cat {FILE}; stat -c '%U:%G %a %Y' {FILE}").out
    edit = EditOptions(FILE, "mysqld", (("max-connections", "78"), ("xyz", None)))
    with actor(replication, operated(replication, HOST, login)) as made:
        assert do(made, edit).output == (f"edit {FILE} [mysqld]", "+ max-connections = 78", "- xyz")
    # The console dies here; the next one repeats the act, and acts once more on the same file.
    with actor(replication, operated(replication, HOST, login)) as made:
        do(made, edit)
        do(made, EditOptions(FILE, "mysqld", (("max-connections", "79"),)))
        assert host.sh(f"cat {FILE}; stat -c '%U:%G %a' {FILE}").out == (
            "# own\n[mysqld]\nmax_connections=79 # why\nmysql:root 640\n"
        )
        assert "max_connections=77" in host.sh(f"cat {KEPT}").out
        assert "79" in host.sh("my_print_defaults --mysqld | grep connections").out
        assert "77" not in host.sh("my_print_defaults --mysqld | grep connections").out
        do(made, RestoreFile(FILE))
        assert host.sh(f"cat {FILE}; stat -c '%U:%G %a %Y' {FILE}").out == before
        do(made, RestoreFile(FILE))
        assert made.cleanup(plan_of(edit)) == ()
        assert host.sh(f"ls -A {FILE}*").out == f"{FILE}\n"
        assert do(made, RestoreFile(FILE)).output[-1].startswith("nothing to restore")
        assert host.sh(f"cat {FILE}; stat -c '%U:%G %a %Y' {FILE}").out == before


@pytest.mark.parametrize("login", sampled(LOGINS, lambda login: login == "dba"))
def test_that_a_file_and_its_folder_which_were_not_there_are_gone_again(
    replication: Estate,
    host: Host,
    login: str,
) -> None:
    folder = "/run/systemd/system/acts-test.service.d"
    put = PutFile(f"{folder}/90-acts.conf", ("[Service]\nRestart=no\n",))
    reload = Run(Command(("systemctl", "daemon-reload"), sudo=True))
    with actor(replication, operated(replication, HOST, login)) as made:
        do(made, Several((put, reload)))
        do(made, Several((put, reload)))
        assert host.sh(f"cat {folder}/*.conf; stat -c '%U:%G %a' {folder}/*.conf").out.endswith("root:root 644\n")
        do(made, RestoreFile(put.path))
        do(made, RestoreFile(put.path))
        do(made, RemoveFile(put.path))
        kept = "90-acts.conf.pilothouse-47"
        assert host.sh(f"ls {folder}").out == f"{kept}.none\n{kept}.wrote\n"
        assert made.cleanup(plan_of(Several((put, reload)))) == ()
        assert made.cleanup(plan_of(Several((put, reload)))) == ()
        assert host.sh(f"ls {folder}", check=False).code


def test_that_root_writes_nothing_of_the_servers_through_a_link_that_its_account_has_laid(
    replication: Estate, host: Host
) -> None:
    """As grastate.dat it led to a file of root's, which was replaced and given to mysql."""
    path, target = "/var/lib/mysql/acts-state.dat", "/root/acts-target"
    host.sh(f"echo root > {target}; chmod 600 {target}; runuser -u mysql -- ln -s {target} {path}")
    before = f"cat {target}; stat -c '%U:%G %a' {target}"
    try:
        with actor(replication, operated(replication, HOST, "dbapw")) as made:
            with pytest.raises(ActFailed, match=r"acts-state\.dat is a symbolic link"):
                do(made, PutFile(path, ("mysql\n",), "0660", "mysql:mysql"))
            assert host.sh(before).out == "root\nroot:root 600\n"
    finally:
        host.sh(f"rm -f {path} {target}")


def test_that_a_copied_secret_reaches_the_file_and_nothing_else(replication: Estate, host: Host) -> None:
    secret = f"pa#s'{secrets.token_hex(6)}"
    source = replication.host("r2")
    source.sh(f"cat > {FILE}; chmod 600 {FILE}", stdin=f'[mysqld]\nloose-wsrep-sst-auth = "sst:{secret}"\n')
    watch = "for i in $(seq 300); do cat /proc/[0-9]*/cmdline | tr '\\0' ' '; sleep 0.02; done 2>/dev/null"
    seen: list[str] = []
    both = [threading.Thread(target=lambda h=h: seen.append(h.sh(watch).out)) for h in (host, source)]
    put = PutFile(
        FILE, ("[mysqld]\nloose_wsrep_sst_auth = ", CopiedSecret("r2", "wsrep_sst_auth"), "\n"), "0640", "root:mysql"
    )
    edit = EditOptions(FILE, "sst", (("wsrep_sst_auth", CopiedSecret("r2", "wsrep_sst_auth")),))
    try:
        for thread in both:
            thread.start()
        with actor(replication, *(operated(replication, name, "dbapw") for name in (HOST, "r2"))) as made:
            acted = [do(made, put), do(made, edit), do(made, Run(Command(("cat", FILE), sudo=True)))]
            assert host.sh("my_print_defaults --mysqld sst | grep -c 'sst.auth=sst:pa#s'").out == "2\n"
            assert host.sh(f"stat -c '%U:%G %a' {FILE}").out == "root:mysql 640\n"
            with pytest.raises(ActFailed, match="have no no_such_option"):
                do(made, EditOptions(FILE, "mysqld", (("x", CopiedSecret("r2", "no_such_option")),)))
            do(made, RestoreFile(FILE))
            made.cleanup(plan_of(put, edit))
    finally:
        for thread in both:
            thread.join()
        source.sh(f"rm -f {FILE}*")
    assert secret not in repr(acted)
    assert "********" in repr(acted)
    assert all("cat --" in text or "dd " in text or "sudo" in text for text in seen)
    assert not any(secret in text for text in seen)
    for made_host in (host, source):
        assert secret not in made_host.sh("journalctl -b --no-pager -n 500").out


def test_that_commands_are_judged_by_exit_code_and_pattern(replication: Estate, host: Host) -> None:
    with actor(replication, operated(replication, HOST)) as made:
        run = Run(Command(("sh", "-c", "echo pos 5; echo why >&2; exit 3")), ok=(3,), keep="p", pattern=r"pos (\d+)")
        assert do(made, run).kept == (("p", "5"),)
        with pytest.raises(ActFailed, match="exit code 3: why") as raised:
            do(made, Run(run.command))
        assert raised.value.output == ("pos 5", "why")
        with pytest.raises(ActFailed, match="does not match"):
            do(made, Run(run.command, (3,), "p", "x(y)"))
        assert do(made, Sql(set_global("max_connect_errors", 100))).output == ("SET GLOBAL max_connect_errors=100;",)
        stop = threading.Event()
        stop.set()
        with pytest.raises(Cancelled):
            do(made, run, stop=stop)


@pytest.mark.parametrize("login", sampled(LOGINS, lambda login: login == "dba"))
@pytest.mark.parametrize("systemd", [True, False], ids=["systemd", "setsid"])
def test_that_detached_job_gives_its_result_once_for_each_begin(
    replication: Estate,
    host: Host,
    login: str,
    systemd: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not systemd:
        monkeypatch.setattr("services.procedures.execute.detached._LEAST_SYSTEMD", 9999)
    said: list[str] = []
    with actor(replication, operated(replication, HOST, login)) as made:
        acted = do(made, ends("one", 1.5), said=said.append)
        assert (acted.kept, acted.output) == ((("v", "17"),), ("the $HOME value=17",))
        assert said
    with actor(replication, operated(replication, HOST, login)) as made:
        assert do(made, ends("one", 1.5)).kept == (("v", "17"),)
        assert host.sh("cat /run/acts-count").out == "began\n"
        do(made, ends("one", 0.1))  # asked for once more: it begins anew
        assert host.sh("cat /run/acts-count").out == "began\nbegan\n"
        assert host.sh("stat -c %a /run/pilothouse/*.out /run/pilothouse/*/out 2>/dev/null", check=False).out == "600\n"
        with pytest.raises(ActFailed, match="exit code 4"):
            do(made, ends("two", 0.1, 4))
        mine = Detached(Command(("id", "-un")), "three")
        user = "root" if login == "root" else login
        assert do(made, mine).output == (user,)
        with pytest.raises(UserError):
            do(made, Detached(Command(("/no/such/program",), sudo=True), "four"))
        assert made.cleanup(plan_of(ends("one", 1), ends("two", 1), mine, Detached(mine.command, "four"))) == ()


@pytest.mark.parametrize("systemd", [True, False], ids=["systemd", "setsid"])
def test_that_detached_job_survives_its_killed_console_and_is_found_again(
    replication: Estate,
    host: Host,
    systemd: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    least = 236 if systemd else 9999
    monkeypatch.setattr("services.procedures.execute.detached._LEAST_SYSTEMD", least)
    script = f"""
import services.procedures.execute.detached as d
d._LEAST_SYSTEMD = {least}
from tests.lab.estate.estate import Estate
from tests.lab.operator.operating import actor, operated
from tests.lab.operator.test_operator_acts import HOST, do, ends
estate = Estate("async")
with actor(estate, operated(estate, HOST)) as made:
    do(made, ends("long", 6), 60.0, said=lambda line: print("said", flush=True))
"""
    console = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ}
    )
    assert console.stdout is not None
    with console.stdout:
        assert console.stdout.readline() == "said\n"
    console.send_signal(signal.SIGKILL)
    console.wait(10)
    with actor(replication, operated(replication, HOST)) as made:
        assert do(made, ends("long", 6), 60.0).kept == (("v", "17"),)
        assert host.sh("cat /run/acts-count").out == "began\n"
        assert made.cleanup(plan_of(ends("long", 6))) == ()


def test_that_cancelling_ends_detached_job_and_running_out_of_time_leaves_it(replication: Estate, host: Host) -> None:
    with actor(replication, operated(replication, HOST)) as made:
        stop = threading.Event()
        threading.Timer(1.0, stop.set).start()
        with pytest.raises(Cancelled):
            do(made, ends("cancelled", 60), 60.0, stop=stop)
        assert host.sh("pgrep -fx 'sleep 60'", check=False).out == ""
        with pytest.raises(TimedOut) as raised:
            do(made, ends("slow", 4), 1.0)
        assert "continues" in raised.value.safe
        assert do(made, ends("slow", 4), 20.0).kept == (("v", "17"),)
        assert host.sh("cat /run/acts-count").out == "began\nbegan\n"
        made.cleanup(plan_of(ends("slow", 4)))


@pytest.mark.parametrize("systemd", [True, False], ids=["systemd", "setsid"])
def test_that_a_job_that_another_console_began_is_ended_by_its_name_alone(
    replication: Estate, host: Host, systemd: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.procedures.execute.detached._LEAST_SYSTEMD", 236 if systemd else 9999)
    with actor(replication, operated(replication, HOST)) as made, pytest.raises(TimedOut):
        do(made, ends("left", 61), 1.0)
    with actor(replication, operated(replication, HOST)) as made:
        assert host.sh("pgrep -fx 'sleep 61'").out
        assert made.end(HOST, "left") is True
        assert host.sh("pgrep -fx 'sleep 61'", check=False).out == ""
        assert made.end(HOST, "left") is False
        assert made.end(HOST, "never-begun") is False
        with pytest.raises(ActFailed):
            do(made, ends("over", 0.1, 4))
        assert made.end(HOST, "over") is False
        made.cleanup(plan_of(ends("left", 61), ends("over", 0.1)))


@pytest.mark.long
def test_that_detached_job_outlasts_a_stopped_sshd(replication: Estate, host: Host) -> None:
    said: list[str] = []
    with armed(replication, operated(replication, HOST)) as hosts:
        made = RealActor(hosts, RUN, CLOCK)
        threading.Timer(2.0, lambda: replication.sshd_stop(HOST)).start()
        threading.Timer(6.0, lambda: replication.sshd_start(HOST)).start()
        assert do(made, ends("cut", 9), 60.0, said=said.append).kept == (("v", "17"),)
        assert host.sh("cat /run/acts-count").out == "began\n"
        made.cleanup(plan_of(ends("cut", 9)))
        replication.sshd_stop(HOST)
        hosts.arm(RUN, ())
        hosts.arm(RUN, (HOST,))
        began = time.monotonic()
        with pytest.raises(Unreachable) as raised:
            do(made, ends("never", 1), 60.0)
        assert time.monotonic() - began < 20
        assert raised.value.safe == "Nothing was changed."
        replication.sshd_start(HOST)
