"""An account that may write above its own data races root on a real host: it exchanges every name there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.connections.command import Command
from services.connections.operator import folders_of_others
from services.errors import UserError
from services.procedures.plan.actions import Run
from tests.hostile.accounts.acts_of_restores import NAMES, acts
from tests.lab.estate.estate import Estate, Host
from tests.lab.operator.operating import actor, operated

OWN, ROOTS, WANTED = "/srv/raced/own", "/srv/raced/roots", "/srv/raced/wanted"
TRIES = 12
_EXCHANGE = f"""cd {OWN} || exit
while :; do
  for n in copy copy.part new kept {" ".join(NAMES)}; do
    mv -T $n away-$n 2>/dev/null; ln -sfT {WANTED} $n 2>/dev/null; rm -f $n; mv -T away-$n $n 2>/dev/null
  done
done"""
_LOOKED = f"stat -c '%U:%G %a %n' {WANTED} {WANTED}/shadow; ls -A {WANTED}; cat {WANTED}/shadow"
_STOLEN = f"find {OWN} {ROOTS} -name shadow; find {ROOTS} -type l"


@pytest.fixture
def raced(steer: Estate) -> Iterator[Host]:
    host = steer.host(steer.spec.hosts[0].name)
    host.sh(f"rm -rf /srv/raced; install -d -o mysql -g mysql {OWN} {OWN}/data; install -d {ROOTS}")
    host.sh(f"install -d -m 700 {WANTED}; echo precious > {WANTED}/shadow; chmod 600 {WANTED}/shadow")
    host.sh(f"runuser -u mysql -- sh -c 'for n in $(seq 200); do echo row > {OWN}/data/$n; done'")
    host.sh(f"cat > /srv/raced/exchange <<'X'\n{_EXCHANGE}\nX")
    host.sh("systemd-run --uid=mysql --unit=raced bash /srv/raced/exchange")
    yield host
    host.sh("systemctl stop raced; rm -rf /srv/raced", check=False)


def _acts(number: int) -> tuple[Command, ...]:
    mine = f"{ROOTS}/copy{number}"
    return (
        folders_of_others.copied(f"{OWN}/data", f"{OWN}/copy", "mysql"),
        folders_of_others.copied(f"{OWN}/data", mine, "mysql"),
        folders_of_others.made(f"{OWN}/new", "mysql", "0755"),
        folders_of_others.renamed(f"{OWN}/new", f"{OWN}/kept", "mysql"),
        folders_of_others.inside(f"{OWN}/data", "mysql", "sed", "-i", "s/row/line/", "./1"),
        folders_of_others.emptied(f"{OWN}/kept", "mysql"),
        folders_of_others.removed("mysql", f"{OWN}/copy", f"{OWN}/copy.part", f"{OWN}/new", f"{OWN}/kept", mine),
    )


def test_that_whoever_may_write_above_its_data_wins_no_race_against_root(steer: Estate, raced: Host) -> None:
    """Of root's `cp -aLT`, `mkdir` and `chown` it won ten of ten."""
    whole, done = raced.sh(_LOOKED).out, 0
    with actor(steer, operated(steer, raced.name)) as made:
        for number in range(TRIES):
            for command in _acts(number):
                try:
                    made.perform("s", raced.name, Run(command), {}, limit_s=60)
                    done += 1
                except UserError:  # it stood in the way: nothing was done, or part of it, as its own account
                    continue
                finally:
                    assert raced.sh(_LOOKED).out == whole
                    assert raced.sh(_STOLEN).out == ""
    assert done > 0


@pytest.mark.long
@pytest.mark.timeout(1_200)
def test_that_it_wins_none_against_the_acts_of_the_galera_restores(steer: Estate, raced: Host) -> None:
    """`mv`, `rm`, `chown` and `cp` of root stood behind an earlier look at the way."""
    uid = raced.sh("id -u mysql").out.strip()
    whole, done = raced.sh(_LOOKED).out, set()
    with actor(steer, operated(steer, raced.name)) as made:
        for _ in range(TRIES):
            for name, command in acts(OWN, f"{ROOTS}/kept", f"{uid}:{raced.sh('id -g mysql').out.strip()}").items():
                try:
                    made.perform("s", raced.name, Run(command), {}, limit_s=60)
                    done.add(name)
                except UserError:
                    continue
                finally:
                    assert raced.sh(_LOOKED).out == whole, name
                    assert raced.sh(_STOLEN).out == "", name
    assert done, "none was refused where it was done as the account"
