"""Attacks of the database's own user on what root writes on its host: links for new files, for folders, hard links."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest

from services.connections.operator.files import NotWritten
from services.connections.reads import commands
from services.connections.reads.registry import command_of
from services.procedures.catalogue.galera.shared.restored_look import LOOK
from services.procedures.catalogue.steps.restored.recovering import RECOVER, RECOVER_OR_SAY_WHY
from services.procedures.engine.ports import ActFailed, Untouched
from services.procedures.plan.actions import EditOptions, PutFile, RestoreFile
from tests.lab.estate.estate import Estate, Host
from tests.lab.operator.operating import LOGINS, RUN, actor, operated
from tests.sample import sampled

HOST = "s1"
OWN = "/srv/laid/own"
"""A folder that belongs to the user mysql, as a data folder does."""
VICTIM = "/srv/laid/secret"
STATE = f"{OWN}/grastate.dat"
LOOKED = f"stat -c '%U:%G %a' {VICTIM}; cat {VICTIM}"
WHOLE = "root:root 600\nprecious\n"


def as_mysql(host: Host, script: str) -> None:
    host.sh(f'runuser -u mysql -- sh -c "{script}"')


@pytest.fixture
def host(steer: Estate) -> Iterator[Host]:
    made = steer.host(HOST)
    made.sh(f"rm -rf /srv/laid; install -d -o mysql -g mysql {OWN}; echo precious > {VICTIM}; chmod 600 {VICTIM}")
    yield made
    made.sh("rm -rf /srv/laid")


@pytest.mark.parametrize("place", ["copy", "new"])
@pytest.mark.parametrize("login", sampled(LOGINS, lambda login: login == "dba"))
def test_that_a_link_in_place_of_a_new_file_is_not_written_through(
    steer: Estate, host: Host, login: str, place: str
) -> None:
    as_mysql(host, f"echo evil > {STATE}")
    host.sh("install -d -m 755 /srv/laid/roots")
    as_mysql(host, f"ln -s {VICTIM} {STATE}.new")
    if place == "copy":
        as_mysql(host, f"ln -s {VICTIM} {STATE}.pilothouse-{RUN}.new")
    else:
        as_mysql(host, f"ln -s /srv/laid/roots {OWN}/.grastate.dat.pilothouse-new")
    with actor(steer, operated(steer, HOST, login)) as made:
        made.perform("s", HOST, PutFile(STATE, ("mine\n",), "0660", "mysql:mysql"), {}, limit_s=30)
        assert host.sh(f"cat {STATE}; stat -c '%U:%G %a' {STATE}").out == "mine\nmysql:mysql 660\n"
        assert host.sh(LOOKED).out == WHOLE
        made.perform("s", HOST, RestoreFile(STATE), {}, limit_s=30)
    assert host.sh(f"cat {STATE}; stat -c %U {STATE}").out == "evil\nmysql\n"
    assert host.sh(LOOKED).out == WHOLE
    assert host.sh("ls -A /srv/laid/roots").out == ""


def test_that_links_swapped_in_while_files_are_written_lead_nowhere(steer: Estate, host: Host) -> None:
    script = (
        f"cd {OWN}; end=$(($(date +%s) + 25)); while [ $(date +%s) -lt $end ]; do "
        f"for n in .grastate.dat.pilothouse-new grastate.dat.pilothouse-{RUN}.new grastate.dat .pilothouse-*; do "
        f"[ -e $n ] && mv -T $n moved-$RANDOM 2>/dev/null; ln -sfT {VICTIM} $n 2>/dev/null; done; done"
    )
    host.sh(f"cat > /srv/laid/attack <<'X'\n{script}\nX\nsystemd-run --uid=mysql --unit=laid bash /srv/laid/attack")
    try:
        with actor(steer, operated(steer, HOST)) as made:
            for number in range(25):
                try:
                    put = PutFile(STATE, (f"{number}\n",), "0660", "mysql:mysql")
                    made.perform("s", HOST, put, {}, limit_s=30)
                except (ActFailed, NotWritten):
                    continue
    finally:
        host.sh("systemctl stop laid", check=False)
    assert host.sh(LOOKED).out == WHOLE


def test_that_a_link_in_place_of_a_folder_is_not_entered(steer: Estate, host: Host) -> None:
    host.sh("install -d -m 755 /srv/laid/cron.d")
    host.sh("echo '# root' > /srv/laid/cron.d/x.cnf")
    as_mysql(host, f"ln -s /srv/laid/cron.d {OWN}/conf.d; ln -s {VICTIM} {OWN}/y.cnf; ln -s /srv/laid/no {OWN}/no")
    acts = (
        PutFile(f"{OWN}/conf.d/x.cnf", ("evil\n",)),
        EditOptions(f"{OWN}/conf.d/x.cnf", "mysqld", (("user", "root"),)),
        EditOptions(f"{OWN}/y.cnf", "mysqld", (("user", "root"),)),
        PutFile(f"{OWN}/conf.d/made/z.cnf", ("evil\n",)),
        PutFile(f"{OWN}/no/z.cnf", ("evil\n",)),
    )
    with actor(steer, operated(steer, HOST)) as made:
        for act in acts:
            with pytest.raises(Untouched, match="is a symbolic link in a folder that others than root may write to"):
                made.perform("s", HOST, act, {}, limit_s=30)
    assert host.sh("ls -A /srv/laid/cron.d; cat /srv/laid/cron.d/x.cnf").out == "x.cnf\n# root\n"
    assert host.sh(f"{LOOKED}; ls -A /srv/laid").out == f"{WHOLE}cron.d\nown\nsecret\n"


def test_that_a_file_with_another_name_is_neither_read_nor_replaced(steer: Estate, host: Host) -> None:
    """Kept and put back it would give the server's account a copy of root's file."""
    host.sh(f"ln {VICTIM} {STATE}")
    with actor(steer, operated(steer, HOST)) as made, pytest.raises(Untouched, match="has another name"):
        made.perform("s", HOST, PutFile(STATE, ("mine\n",), "0660", "mysql:mysql"), {}, limit_s=30)
    assert host.sh(f"{LOOKED}; cat {STATE}; ls -A {OWN}").out == f"{WHOLE}precious\ngrastate.dat\n"


def test_that_the_servers_own_program_makes_no_file_where_a_link_in_its_data_folder_leads(host: Host) -> None:
    """It opens HOST.lower-test before it takes the account that --user names: root made what a link led to."""
    made = "/srv/laid/made"
    as_mysql(host, f"ln -s {made} /var/lib/mysql/$(hostname).lower-test")
    argv = command_of(commands.PROGRAM_CHECKED.read("/usr/sbin/mariadbd", sudo=True)).argv
    tried = host.sh(f"{shlex.join(argv)} > /dev/null; echo $?")
    there = host.sh(f"ls {made}", check=False)
    host.sh("rm -f /var/lib/mysql/$(hostname).lower-test")
    assert tried.out == "0\n", tried
    assert not there.ok


AT = "/srv/laid/data"
_DATA = f"""install -d -o mysql -g mysql {AT} && mariadb-install-db --no-defaults --user=mysql --datadir={AT} \
  --skip-test-db > /srv/laid/made.log 2>&1 && ln -s /srv/laid/made {AT}/$(hostname).lower-test &&
  chown -h mysql: {AT}/*.lower-test"""
_WORDS = (
    *("mariadbd", "--wsrep-recover", "--disable-log-error", f"--datadir={AT}", "--wsrep-on=ON", "--binlog-format=ROW"),
    *("--wsrep-provider=/usr/lib/galera/libgalera_smm.so", "--wsrep-cluster-address=gcomm://"),
)
"""The spare host's own option files know no Galera."""


def _begun(host: Host, text: str, *words: str) -> str:
    ran = host.sh(shlex.join(("bash", "-c", text, "pilothouse", *words)), limit_s=120, check=False)
    assert ran.code == 0, ran
    there = host.sh("ls /srv/laid/made; rm -f /srv/laid/made", check=False).out
    assert there == "", ran
    assert host.sh(f"readlink {AT}/$(hostname).lower-test").out == "/srv/laid/made\n"
    assert host.sh(f"find {AT} -newer /srv/laid/made.log -user root").out == ""
    return ran.out + ran.err


@pytest.mark.long
def test_that_servers_that_root_begins_make_no_file_where_a_link_in_their_data_folder_leads(steer: Estate) -> None:
    """A recovery and a private server: begun with --user=mysql, root made the file (ten of ten)."""
    host = steer.host("new")
    host.sh("rm -rf /srv/laid; mkdir /srv/laid")
    try:
        host.sh(_DATA, limit_s=120)
        server = "mariadb.service"
        assert "Recovered position" in _begun(host, RECOVER, "mysql", server, *_WORDS)
        why = _begun(host, RECOVER_OR_SAY_WHY, "mysql", server, "[ERROR]", *_WORDS)
        assert ("Recovered position" in why, "not recovered" in why) == (True, False), why
        looked = _begun(host, LOOK, AT)
        assert "\nend\nlooked: " in f"\n{looked}", looked
        host.sh(shlex.join((_WORDS[0], "--user=mysql", *_WORDS[1:])), limit_s=120, check=False)
        assert host.sh("stat -c %U /srv/laid/made").out == "root\n", (
            "a server as root no longer does: this shows nothing"
        )
    finally:
        host.sh("rm -rf /srv/laid")
