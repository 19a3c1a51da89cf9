"""Which files that a joiner's start needs are on each host: the provider's library, certificates and keys.

Their paths come from all hosts' options, because a new node gets its own from a member. Only whether a file is there
and its size is read, never its content.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.observer.paths import is_clean
from services.connections.reads import commands
from services.facts.machine.system import parse_sizes
from services.facts.server.option_files import provider_options_of
from services.procedures.plan.part import Part, Reading, Turn
from services.procedures.plan.parts.galera.provider import Provider
from services.procedures.plan.parts.server.options import Options

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

SST_FILES = ("tca", "tcert", "tkey", "ssl_ca", "ssl_cert", "ssl_key")
PROVIDER_FILES = ("socket.ssl_ca", "socket.ssl_cert", "socket.ssl_key")


@dataclass(frozen=True, slots=True)
class TrafficFiles(Part):
    """Read with stat as root, over SSH: path and bytes; None: it is missing; () = not read."""

    turn: ClassVar[Turn] = Turn.COMPANY
    made_from: ClassVar[tuple[type[Part], ...]] = (Options, Provider)

    sizes: tuple[tuple[str, int | None], ...] = ()

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part. stat(1) tells those that are there, and goes on."""
        del host
        wanted = wanted_files(reading.company.hosts.values())
        output = reading.run("files", commands.FILE_SIZES.read(*wanted, sudo=True)) if wanted else None
        if output is None or reading.sudo_works is False:  # a file that a login may not see is no file that is missing
            return None
        return cls(parse_sizes(output.text, output.error_text, wanted))


def wanted_files(hosts: Iterable[HostFacts]) -> tuple[str, ...]:
    """Return every path that some host's options name, sorted."""
    everyone = tuple(hosts)
    named = {path for host in everyone for _, path in tls_files(host)}
    return tuple(sorted(named | {path for host in everyone if (path := library_of(host))}))[: commands.MOST_PATHS]


def tls_files(host: HostFacts) -> tuple[tuple[str, str], ...]:
    """Return (option, path) of the certificates and keys that a host's own option files name for Galera's traffic."""
    options = host[Options]
    sst = [(f"[sst] {name}", value) for name in SST_FILES if (value := options.option("sst", name))]
    given = dict(provider_options_of(options.option("mysqld", "wsrep_provider_options") or ""))
    provider = [(name, given[name]) for name in PROVIDER_FILES if given.get(name)]
    return tuple((name, path) for name, path in (*sst, *provider) if is_clean(path))


def library_of(host: HostFacts) -> str:
    """Return the path of a host's provider: the running server's, else its option files'; '' for none."""
    path = host[Provider].path or host[Options].option("mysqld", "wsrep_provider") or ""
    return path if is_clean(path) else ""
