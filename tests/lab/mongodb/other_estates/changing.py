"""What a colleague or a configuration tool changes on a host of a cluster by hand, and servers started anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database, mongodb

DROP_IN = "pilothouse-lab.conf"


def path_of(estate: Estate, host: str) -> str:
    """The configuration file of a host's server."""
    return f"/etc/{estate.spec.host(host).engine.process}.conf"


def text_of(estate: Estate, host: str) -> str:
    """What stands in it."""
    return estate.host(host).sh(f"cat {path_of(estate, host)}").out


def write(estate: Estate, host: str, text: str) -> None:
    """Write a host's configuration file, as a configuration tool does."""
    path = path_of(estate, host)
    estate.host(host).sh(f"cat > {path} <<'END_OF_FILE'\n{text}END_OF_FILE")


def restarted(estate: Estate, *hosts: str) -> None:
    """Start these servers anew, one after the other."""
    for host in hosts:
        if database.pid(estate.spec, host) is not None:
            database.stop(estate.spec, host)
        database.start(estate.spec, host)
        mongodb.wait_answers(estate.spec, host)


@contextmanager
def files_as(estate: Estate, texts: dict[str, str]) -> Iterator[None]:
    """These hosts have these files, and run with them; what they had is written back at the end, and not started."""
    before = {host: text_of(estate, host) for host in texts}
    try:
        for host, text in texts.items():
            write(estate, host, text)
            restarted(estate, host)
        yield
    finally:
        for host, text in before.items():
            write(estate, host, text)


def option_given(estate: Estate, host: str, option: str) -> None:
    """Give the unit of a host's server an option on its command line; it wins from its next start on."""
    process = estate.spec.host(host).engine.process
    line = f"/usr/local/bin/{process} --config /etc/{process}.conf {option}"
    folder = f"/etc/systemd/system/{process}.service.d"
    estate.host(host).sh(
        f"mkdir -p {folder}; printf '[Service]\\nExecStart=\\nExecStart=%s\\n' '{line}' > {folder}/{DROP_IN}; "
        "systemctl daemon-reload"
    )


def option_taken(estate: Estate, host: str) -> None:
    """Take it away again."""
    process = estate.spec.host(host).engine.process
    estate.host(host).sh(f"rm -f /etc/systemd/system/{process}.service.d/{DROP_IN}; systemctl daemon-reload")


@contextmanager
def option_on(estate: Estate, host: str, option: str) -> Iterator[None]:
    """A host's server runs with an option on its unit's command line meanwhile."""
    option_given(estate, host, option)
    try:
        restarted(estate, host)
        yield
    finally:
        option_taken(estate, host)
        restarted(estate, host)
