"""A server's program that root begins is its account's from its start on: no link of the account leads root anywhere.

The server of these tests opens HOST.lower-test in its data folder at once, as mariadbd 10.11.18 does.
"""

from __future__ import annotations

import os
import pwd
import subprocess
from pathlib import Path

import pytest

from services.connections.operator.as_server import EXEC_AS, OPTIONS_READ
from services.procedures.catalogue.galera.shared import private_programs as private
from services.procedures.catalogue.galera.shared.restored_look import LOOK
from services.procedures.catalogue.steps.restored.recovering import RECOVER, RECOVER_OR_SAY_WHY
from tests.hostile.accounts.test_folders_of_others import Place, place

__all__ = ["place"]
NOBODY = pwd.getpwnam("nobody")
OTHER = next(one for one in pwd.getpwall() if one.pw_uid not in {0, NOBODY.pw_uid})
UNIT = "mariadb.service"
_SERVER = "#!/bin/sh\nid -u; id -G; cd {data} || exit; touch h.lower-test 2>&1 || echo '[ERROR] no file'\nexit 4\n"
PROGRAMS = pytest.mark.parametrize("program", [RECOVER, RECOVER_OR_SAY_WHY])
pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another account")


def _tool(place: Place, name: str, text: str) -> Path:
    (place.top / "tools").mkdir(exist_ok=True)
    tool = place.top / "tools" / name
    tool.write_text(text, encoding="ascii")
    tool.chmod(0o755)
    return tool


def _host(place: Place, *, user: str, secret: str = "") -> Path:
    """A data folder of nobody's with a link in it, a unit with a User=, and option files; return the server."""
    data = place.own / "data"
    (data / "h.lower-test").symlink_to(place.wanted / "made")
    os.chown(data, NOBODY.pw_uid, NOBODY.pw_gid)
    _tool(place, "systemctl", f"#!/bin/sh\necho User={user}\n")
    only_root = f'[ "$(id -u)" != 0 ] || echo {secret}\n' if secret else ""
    _tool(place, "my_print_defaults", f"#!/bin/sh\n{only_root}echo --wsrep-on=ON\n")
    return _tool(place, "server", _SERVER.format(data=data))


def _ran(place: Place, program: str, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", program, "pilothouse", *map(str, words)],
        capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "PATH": f"{place.top}/tools:{os.environ['PATH']}"},
    )  # fmt: skip


def _recovered(place: Place, program: str, server: Path) -> subprocess.CompletedProcess[str]:
    error = () if program == RECOVER else ("[ERROR]",)
    return _ran(place, program, NOBODY.pw_uid, UNIT, *error, server, "--wsrep-recover")


@PROGRAMS
@pytest.mark.parametrize("user", ["", "root", "nobody"])
def test_that_a_server_that_recovers_its_position_is_never_root(place: Place, program: str, user: str) -> None:
    """HOST.lower-test was opened by root, O_CREAT, before the server became another account."""
    ran = _recovered(place, program, _host(place, user=user))
    assert (ran.stdout.split("\n")[0], place.untouched()) == (str(NOBODY.pw_uid), True), ran
    assert ran.returncode == (4 if program == RECOVER else 0), ran
    assert ("not recovered: exit code 4: [ERROR] no file" in ran.stdout) == (program != RECOVER), ran


@PROGRAMS
def test_that_it_is_the_account_as_which_the_unit_begins_it_in_all_its_groups(place: Place, program: str) -> None:
    """A data folder that another account owns, and a key that a group may read, are the unit's business."""
    ran = _recovered(place, program, _host(place, user=OTHER.pw_name))
    groups = " ".join(map(str, os.getgrouplist(OTHER.pw_name, OTHER.pw_gid)))
    assert (ran.stdout.split("\n")[:2], place.untouched()) == ([str(OTHER.pw_uid), groups], True), ran


@PROGRAMS
@pytest.mark.parametrize(("user", "known"), [("", False), ("root", False), ("nobody", True)])
def test_that_options_of_roots_alone_count_only_where_the_unit_begins_its_server_as_root(
    place: Place, program: str, user: str, known: bool
) -> None:
    """As the account a server passes over a file that it may not read (10.11.18): so does a unit's with a User=."""
    ran = _recovered(place, program, _host(place, user=user, secret="--innodb-data-home-dir=/fast"))
    assert ("can not read all option files" not in ran.stdout + ran.stderr) is known, ran
    assert ran.stdout.startswith(f"{NOBODY.pw_uid}\n") is known, ran
    assert place.untouched()
    if program == RECOVER_OR_SAY_WHY and not known:
        assert f"not recovered: exit code 73: {UNIT} begins its server as root" in ran.stdout


def test_that_options_in_roots_own_home_are_no_units(place: Place) -> None:
    server = _host(place, user="")
    _tool(place, "my_print_defaults", "#!/bin/sh\necho --home=${HOME-none}\n")
    assert _recovered(place, RECOVER, server).stdout.startswith(f"{NOBODY.pw_uid}\n")


@pytest.mark.parametrize("account", ["root", "0", "no-such-account", "x:y"])
def test_that_no_account_of_roots_and_none_that_is_not_there_begins_a_server(place: Place, account: str) -> None:
    ran = _ran(place, RECOVER, account, UNIT, _host(place, user=""))
    assert (ran.returncode, ran.stdout) == (73, ""), ran


@pytest.mark.parametrize("program", [private.REPLAY, private.POSITION, LOOK])
def test_that_a_private_server_is_never_root(place: Place, program: str) -> None:
    begin = program.index('  exec_as "$server"')
    words = program[begin : program.index("&\n", begin)]
    script = f"{EXEC_AS}server=$1 uid={NOBODY.pw_uid} gid={NOBODY.pw_gid} data= sock= folder= log=/dev/fd/4\nshift\n"
    ran = _ran(place, f"{script}exec 4>&1\n{words}", _host(place, user=""))
    assert (ran.stdout.split("\n")[0], place.untouched()) == (str(NOBODY.pw_uid), True), ran
    assert "--user" not in words


@pytest.mark.parametrize("program", [private.REPLAY, private.POSITION, LOOK])
@pytest.mark.parametrize(
    ("user", "secret", "begins"),
    [("", "", True), ("", "--innodb-data-home-dir=/fast", False), ("root", "--innodb-data-home-dir=/fast", False),
     ("nobody", "--innodb-data-home-dir=/fast", True)],
)  # fmt: skip
def test_that_a_private_server_reads_what_the_units_server_reads_or_does_not_begin(
    place: Place, program: str, user: str, secret: str, begins: bool
) -> None:
    """It passed over a file that only root may read, where the unit's server reads it: other options, not a word."""
    _host(place, user=user, secret=secret)
    begin = program.index('same_options "$unit"')
    first = program[program.index("exec_as() {") : program.index("set -u -o pipefail")]
    script = f'failed() {{ echo "$1"; exit "$2"; }}\nunit=$1 account=nobody uid={NOBODY.pw_uid} gid={NOBODY.pw_gid}\n'
    script += f"{first}{program[begin : program.index('as_root() {', begin)]}echo begins\n"
    ran = _ran(place, f"set -u -o pipefail -o noclobber\n{script}", UNIT)
    assert (ran.returncode, "begins" in ran.stdout) == ((0, True) if begins else (12, False)), ran
    if not begins:
        assert ran.stdout.startswith("the account nobody can not read all option files"), ran
        assert "fast" not in ran.stdout


@pytest.mark.parametrize(
    ("user", "secret", "said"),
    [("", "", "same\n"), ("root", "--innodb-data-home-dir=/fast", "differ\n"), ("nobody", "--x=1", "same\n")],
)
def test_that_what_the_account_would_pass_over_is_known_before_anything_moves(
    place: Place, user: str, secret: str, said: str
) -> None:
    _host(place, user=user, secret=secret)
    ran = _ran(place, OPTIONS_READ, UNIT, NOBODY.pw_uid)
    assert (ran.returncode, ran.stdout) == (0, said), ran
    assert _ran(place, OPTIONS_READ, UNIT, 0).returncode == 73
    assert _ran(place, OPTIONS_READ, UNIT, 3_999_999_999).returncode == 73


@pytest.mark.parametrize(("most", "raised"), [("4096", "raised\n"), ("524288", ""), ("unlimited", "")])
def test_that_root_raises_a_low_limit_of_open_files_before_by_a_scripted_limit(
    place: Place, most: str, raised: str
) -> None:
    """The server did so as root; as the account it may not (10.11.18: 'Could not increase number')."""
    scripted = f'ulimit() {{ [ "$*" = "-Hn" ] && echo {most} || [ "$*" != "-Hn 65536" ] || echo raised; }}\n'
    ran = _ran(place, f"{EXEC_AS}{scripted}uid={NOBODY.pw_uid} gid={NOBODY.pw_gid}\nexec_as id -u")
    assert ran.stdout == f"{raised}{NOBODY.pw_uid}\n", ran
