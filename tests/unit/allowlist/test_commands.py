"""The allow-list for commands: templates pass; another program, option, path or shell text does not."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.connections.command import Command
from services.connections.observer.allowlist import check_command
from services.connections.observer.commands import RULES
from services.connections.programs.os_loops import OS_LOOP, OS_LOOP_SH
from services.connections.programs.read_programs import READ_PROGRAMS
from services.connections.reads.registry import command_of
from services.errors import Refused
from services.facts import reads
from services.facts.machine.os_stream import os_command
from services.secrets import Secret
from tests.examples import examples

MANY = settings(max_examples=examples(600), deadline=None, suppress_health_check=[HealthCheck.too_slow])

READS = (
    "cat /proc/meminfo",
    "cat -- /proc/stat /proc/diskstats /proc/pressure/io /proc/1/comm",
    "cat /etc/os-release",
    "cat /var/lib/mysql/grastate.dat /data/db1/gvwstate.dat /srv/auto.cnf",
    "cat /etc/mysql/my.cnf /etc/mysql/mariadb.conf.d/50-server.cnf /etc/my.cnf.d/galera.cnf /etc/my.cnf",
    "df -P -B1 -- /var/lib/mysql",
    "df --output=source,size,avail,target -B1 /var/lib/mysql",
    "du -sb -- /var/lib/mysql/.sst",
    "uname -srm",
    "nproc",
    "hostname",
    "hostname -f",
    "date -u +%s.%N",
    "systemctl show mariadb.service --no-pager -p ActiveState,SubState,StatusText",
    "systemctl --no-pager show --property=ActiveState -- mariadb@1.service",
    "systemctl is-active mysql mariadb mysqld",
    "systemctl cat mariadb",
    "systemctl status --no-pager -n0 mariadb",
    "journalctl --no-pager -u mariadb -n 200 -o json --since=-1h",
    "journalctl --no-pager --unit=mariadb.service --lines=50 --output=short-unix -f",
    "stat -f -c %S,%b,%a -- /var/lib/mysql",
    "stat -c %s /var/lib/mysql/galera.cache",
    "ls -1 /var/lib/mysql",
    "ls -ln --time-style=+%s /var/lib/mysql",
    "ps -eo pid,stat,comm --no-headers",
    "ps -C mysqld,mariadbd -o pid=,stat=,etimes=",
    "ss -ltnp",
    "tail -n 200 -F /var/log/mysql/error.log",
    "tail -c +1024 -- /var/lib/mysql/db1.err",
    "id -u",
    "true",
    "pidof mariadbd mysqld",
    "getconf CLK_TCK",
    "my_print_defaults --mysqld",
    "/usr/sbin/mariadbd --version",
    "mysqld -V",
    "setpriv --reuid=mysql --regid=mysql --clear-groups --no-new-privs -- /usr/sbin/mariadbd --help --verbose",
    "setpriv --reuid=mysql --regid=mysql --clear-groups --no-new-privs -- /usr/sbin/mysqld --help --verbose",
    "cat /run/pilothouse/lock-2db77be0-e5aa-11f1-ae7d-76e16c615942",
    "cat /var/lib/pilothouse/replay/state",
    "cat /var/lib/pilothouse/made/09dfb33b4e95d34cffb19a546fa47e60.left",
    "cat /run/systemd/system/mariadb.service.d/90-pilothouse.conf",
    "cat /etc/systemd/system/mysql@bootstrap.service.d/91-pilothouse-hold.conf",
)
REFUSED = (
    "cat",
    "cat /etc/shadow",
    "cat /etc/systemd/system/mariadb.service.d/secret.conf",
    "cat /etc/systemd/system/91-pilothouse-hold.conf",
    "cat /etc/passwd",
    "cat /root/.ssh/id_rsa",
    "cat /proc/kmsg",
    "cat /proc/kcore",
    "cat /proc/1/environ",
    "cat /proc/1/mem",
    "cat /proc/sysrq-trigger",
    "cat /dev/sda",
    "cat relative.err",
    "cat /var/log/../../etc/shadow.err",
    "cat /proc/../etc/shadow",
    "cat //proc/stat",
    "cat /var/log/./a.log",
    "cat /etc/mysql/../shadow.cnf",
    "cat -n /proc/stat",
    "cat -",
    "cat /etc/mysql/debian.cnf.bak",
    "tail -n 1 /etc/shadow",
    "tail --pid=1 -f /var/log/a.log",
    "tail -f",
    "tail -n -1x /var/log/a.log",
    "hostname evil",
    "hostname -F /x",
    "hostname -b x",
    "date -s now",
    "date --set=now",
    "date 010100002030",
    "date",
    "date -f /etc/shadow +%s",
    "date +%s +%N",
    "systemctl restart mariadb",
    "systemctl stop mariadb",
    "systemctl kill mariadb",
    "systemctl",
    "systemctl -p show restart",
    "systemctl show -H root@other mariadb",
    "systemctl show --host=other mariadb",
    "systemctl edit mariadb",
    "systemctl is-active stop --now",
    "systemctl set-property a b",
    "systemctl --root=/x cat mariadb",
    "systemctl show --force a",
    "systemctl -- restart mariadb",
    "systemctl daemon-reload",
    "journalctl --vacuum-time=1s",
    "journalctl --vacuum-size=1",
    "journalctl --rotate",
    "journalctl --flush",
    "journalctl --sync",
    "journalctl --cursor-file=/x",
    "journalctl --setup-keys",
    "journalctl --update-catalog",
    "journalctl --relinquish-var",
    "journalctl -D /x",
    "journalctl --file=/etc/shadow",
    "journalctl --output=json --vacuum-files=1",
    "journalctl /usr/bin/x",
    "ss -K",
    "ss -ltnK",
    "ss -D /x",
    "ss -F /x",
    "ss dst 1.2.3.4",
    "ps e",
    "ps aux",
    "ps -eo args,environ;x",
    "ps -o pid -e --sort=x",
    "du",
    "du --files0-from=/x /",
    "du -sb relative",
    "df -a /",
    "df --sync /",
    "ls -R /",
    "ls --hyperlink /",
    "stat --printf=%s /",
    "stat -c %s relative",
    "id root",
    "true x",
    "env",
    "env LC_ALL=C cat /proc/stat",
    "sudo cat /proc/stat",
    "nproc --ignore=1",
    "pidof sshd",
    "pidof -o 1 mysqld",
    "getconf -a",
    "getconf PATH /x",
    "my_print_defaults -s client",
    "my_print_defaults --defaults-file=/x client",
    "mysqld",
    "mariadbd",
    "mysqld --version --verbose",
    "mysqld --help",
    "mysqld --user=mysql --help --verbose",
    "setpriv --reuid=mysql --regid=mysql --clear-groups --no-new-privs -- /usr/sbin/mysqld",
    "setpriv --reuid=mysql --regid=mysql --clear-groups --no-new-privs -- /usr/sbin/mysqld --initialize",
    "setpriv --reuid=mysql --regid=mysql --clear-groups --no-new-privs -- /bin/sh --help --verbose",
    "setpriv --reuid=root -- /usr/sbin/mysqld --help --verbose",
    "mysqld --user=mysql --help",
    "mysqld --user=mysql --verbose",
    "mysqld --user=root --help --verbose",
    "mysqld --user=mysql --help --verbose --initialize",
    "mysqld --user=mysql --validate-config",
    "mysqld --user=mysql --wsrep-recover",
    "mysqld --user=mysql --help --verbose",
    "cat /run/pilothouse/lock-",
    "cat /run/pilothouse/lock-../../etc/shadow",
    "cat /run/pilothouse/work.out",
    "cat /var/lib/pilothouse/replay/server.log.new",
    "cat /var/lib/pilothouse/replay/state.new",
    "cat /var/lib/pilothouse/made/09dfb33b4e95d34cffb19a546fa47e60",
    "timeout 3 bash -c true pilothouse n1 4567",
    "timeout 3 bash",
    "timeout",
    "mysqld --initialize",
    "mysqld -V -u root",
    "mariabackup --backup",
    "mysql -e x",
    "mysqladmin shutdown",
    "/tmp/cat /proc/stat",
    "./cat /proc/stat",
    "/usr/local/bin/cat /proc/stat",
    "/bin/bash -c true",
    "bash",
    "bash -c true",
    "sh -c true pilothouse /",
    "bash -lc true pilothouse /",
    "dash -c true",
    "python3 -c 1",
    "perl -e 1",
    "awk 1 /proc/stat",
    "sed -n 1p /proc/stat",
    "find / -delete",
    "xargs rm",
    "tee /x",
    "dd if=/x",
    "cp /a /b",
    "rm /x",
    "kill 1",
    "pkill mysqld",
    "reboot",
    "mount",
    "sysctl -w vm.x=1",
    "sysctl vm.x",
    "echo x",
    "printf x",
    "sleep 1",
    "timeout 1 cat /proc/stat",
    "nice cat /proc/stat",
    "nohup cat /proc/stat",
    "busybox cat /proc/stat",
    "galera_new_cluster",
    "service mysql stop",
    "mysqld_safe",
)
BAD_WORDS = (
    "--vacuum-time=1s",
    "--rotate",
    "-K",
    "--set=now",
    "-s",
    "--host=other",
    "-H",
    "restart",
    "../x",
    "/etc/shadow",
    "/var/../etc/shadow",
    "$(reboot)",
    "`reboot`",
    ";reboot",
    "&&",
    "|",
    ">/x",
    "\nreboot",
    "a\rb",
    "\u2028",
    "\x1b[2J",
    "-",
    "--files0-from=/x",
    "e",
    "--cursor-file=/x",
    "--output-file=/x",
    "-o/x",
    "--",
    "",
)


def command(line: str) -> Command:
    return Command(tuple(line.split(" ")))


def allowed(made: Command) -> bool:
    try:
        check_command(made)
    except Refused:
        return False
    return True


@pytest.mark.parametrize("line", READS)
def test_that_a_reading_command_passes_with_and_without_sudo(line: str) -> None:
    check_command(command(line))
    check_command(Command(command(line).argv, sudo=True, environment=(("LC_ALL", "C"), ("LANG", "C.UTF-8"))))


@pytest.mark.parametrize("line", REFUSED)
def test_that_everything_else_is_refused_with_and_without_sudo(line: str) -> None:
    assert not allowed(command(line))
    assert not allowed(Command(command(line).argv, sudo=True))


@MANY
@given(st.sampled_from(READS), st.data())
def test_that_a_bad_word_anywhere_in_a_reading_command_is_refused_or_harmless(line: str, data: st.DataObject) -> None:
    words = line.split(" ")
    at = data.draw(st.integers(1, len(words)))
    bad = data.draw(st.sampled_from(BAD_WORDS))
    made = Command((*words[:at], bad, *words[at:]))
    if allowed(made):
        assert (
            bad == "--"  # before operands
            or (words[0] in {"df", "du", "ls", "stat"} and bad == "/etc/shadow")  # they tell its size, not its content
            or (words[0] == "stat" and words[at - 1] == "-c")  # a format is one word, whatever stands in it
            or (words[0] == "systemctl" and at >= 2 and bad in {"restart", "e"})  # after the verb: a unit's name
            or (words[0] == "my_print_defaults" and bad in {"restart", "e"})  # a group's name
            or (words[0] in {"du", "hostname", "pidof", "uname"} and bad == "-s")  # their own -s reads
            or (words[0] == "ss" and bad == "-H")  # no header line
        ), made.argv


@MANY
@given(st.sampled_from(sorted(RULES)), st.lists(st.one_of(st.sampled_from(BAD_WORDS), st.text(max_size=8)), max_size=4))
def test_that_any_words_are_judged_without_an_error_of_our_own(program: str, words: list[str]) -> None:
    clean = tuple(word.replace("\0", "") for word in words)
    allowed(Command((program, *clean)))


@MANY
@given(st.text(alphabet="/.abcm-_ \n*~$", min_size=1, max_size=24))
def test_that_no_path_with_a_way_up_or_a_line_break_is_read(path: str) -> None:
    if allowed(Command(("stat", "-c", "%s", "--", path))):
        assert path.startswith("/")
        assert not re.search(r"//|/\.\.?(/|$)|\n", path)


def test_that_the_frozen_programs_pass_whole_and_only_with_a_clean_path() -> None:
    check_command(command_of(os_command("/var/lib/mysql")))
    check_command(command_of(os_command("/var/lib/mysql", "sh")))
    for text, shell in ((OS_LOOP, "bash"), (OS_LOOP_SH, "sh")):
        for argv in (
            (shell, "-c", text + "\nreboot", "pilothouse", "/var"),
            (shell, "-c", text[:-1], "pilothouse", "/var"),
            (shell, "-c", text.replace("/proc/stat", "/etc/shadow"), "pilothouse", "/var"),
            (shell, "-c", text, "pilothouse", "relative"),
            (shell, "-c", text, "pilothouse", "/var/../etc"),
            (shell, "-c", text, "pilothouse", "/var\nreboot"),
            (shell, "-c", text, "pilothouse", "-x"),
            (shell, "-c", text, "pilothouse"),
            (shell, "-c", text, "pilothouse", "/var", "/x"),
            (shell, "-c", text),
            (shell, "-x", "-c", text, "pilothouse", "/var"),
            ("zsh", "-c", text, "pilothouse", "/var"),
            ("/bin/" + shell, "-c", text, "pilothouse", "/var"),
        ):
            assert not allowed(Command(argv)), argv[0:1] + argv[3:]


@pytest.mark.parametrize("program", READ_PROGRAMS)
def test_that_the_frozen_programs_write_nowhere_and_start_only_readers(program: str) -> None:
    bare = re.sub(r"'[^']*'", "''", program)
    targets = re.findall(r"(?<![<-])>+\s*(\S+)", bare)
    assert all(target.rstrip(";)") in {"/dev/null", "&2"} for target in targets), targets
    words = set(re.findall(r"[A-Za-z_]+", bare))
    assert not words & {
        "rm",
        "mv",
        "cp",
        "tee",
        "dd",
        "kill",
        "eval",
        "exec",
        "source",
        "sudo",
        "sh",
        "chmod",
        "sync",
        "trap",
    }
    assert "$(" not in bare.replace("$((", "").replace("$(date", "").replace("$(stat", "")


def test_that_every_command_of_the_facts_passes() -> None:
    for datadir in ("/var/lib/mysql", "/data/db 1/mysql/", "/srv/x/../mysql", "relative", "/"):
        for made in (
            reads.HOST_FILES,
            reads.PROCESS,
            reads.CLOCK,
            reads.ZONE,
            reads.UNIT,
            reads.data_disk(datadir),
            reads.data_listing(datadir, sudo=True),
            reads.sst_size(datadir, sudo=True),
            reads.journal("mariadb.service", 400, sudo=True),
            os_command(reads.clean(datadir)),
        ):
            check_command(command_of(made))
    logs = (
        ("/var/log/mysqld.log", "/d"),
        ("error.err", "/var/lib/mysql"),
        ("./x.err", "/data/a"),
        ("/opt/l/e.log", "/d"),
    )
    for log, datadir in logs:
        check_command(command_of(reads.error_log(reads.log_path(log, datadir), 400, sudo=True)))
    for log in ("/etc/shadow", "/home/dba/notes.log", "/root/x.log", "../../etc/shadow", "/var/log/auth", "-f.log"):
        path = reads.log_path(log, "/var/lib/mysql")
        assert not allowed(Command(("tail", "-n", "400", path), sudo=True))
        with pytest.raises(Refused):
            command_of(reads.error_log(path, 400, sudo=True))


def test_that_input_and_variables_are_refused() -> None:
    assert not allowed(Command(("true",), stdin=Secret("x")))
    for name, value in (
        ("LD_PRELOAD", "/x.so"),
        ("BASH_ENV", "/x"),
        ("PATH", "/x"),
        ("LC_ALL", "$(reboot)"),
        ("LANG", "de"),
    ):
        assert not allowed(Command(("true",), environment=((name, value),)))


def test_that_a_refusal_names_the_program_and_the_rule() -> None:
    with pytest.raises(Refused, match="systemctl: only cat, is-active, show, status may follow it"):
        check_command(command("systemctl restart mariadb"))
    with pytest.raises(Refused, match="reboot: it is not on the list"):
        check_command(command("reboot"))
