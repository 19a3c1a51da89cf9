"""What a real night puts in a run's way besides crashes: full /tmp, dead names, a port closed behind a check."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.lab.estate.estate import Estate
from tests.lab.estate.shell import run
from tests.lab.procedures.states.obstacles import Obstacle, option_file

_FULL = "mount -o remount,size=1M /tmp && dd if=/dev/zero of=/tmp/full bs=64k count=100 2>/dev/null; true"
_EMPTY = "rm -f /tmp/full; mount -o remount,size=1G /tmp"


def tmp_full(*names: str) -> Obstacle:
    """Not a byte is free in /tmp of these hosts."""

    @contextmanager
    def made(estate: Estate) -> Iterator[None]:
        for name in names:
            estate.host(name).sh(_FULL)
        try:
            yield
        finally:
            for name in names:
                estate.host(name).sh(_EMPTY)

    return made


def hangs_in_its_stop(estate: Estate, host: str) -> None:
    """SIGSTOP to the server the moment systemd has told it to end: what stops a server before that lasts no longer.

    "Right after sending the signal specified in KillSignal=, systemd will always send SIGCONT, to ensure that even
    suspended tasks can be terminated cleanly" (systemd.kill(5)).
    """
    words = "systemctl show -p SubState mariadb.service | grep -q stop-sigterm"
    then = "pkill -STOP -x mariadbd"
    estate.host(host).sh(f"for i in $(seq 3000); do {words} && break; sleep 0.02; done; {then}", limit_s=90.0)


def dead_names(host: str) -> Obstacle:
    """The host's option files call its members by names that nobody knows any more."""
    return option_file(host, "[mysqld]\nwsrep_cluster_address = gcomm://one.invalid,two.invalid\n")


def port_closed(host: str, port: int) -> Obstacle:
    """What comes to this port of the host vanishes on the bridge, as at a firewall."""

    @contextmanager
    def made(estate: Estate) -> Iterator[None]:
        rule = f"ether type ip ip daddr {estate.host(host).address} tcp dport {port} drop"
        chain = f"chain forward {{\ntype filter hook forward priority 0; policy accept;\n{rule}\n}}"
        run(["nft", "-f", "-"], stdin=f"table bridge phlab_port {{\n{chain}\n}}\n")
        try:
            yield
        finally:
            run(["nft", "delete", "table", "bridge", "phlab_port"])

    return made
