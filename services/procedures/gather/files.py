"""Which files that a joiner's start needs are on each host: the provider's library, certificates and keys.

Their paths come from all hosts' options, because a new node gets its own from a member. Only whether a file is there
and its size is read, never its content.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from services.connections.reads import commands
from services.facts.reading import count
from services.lines import lines_of
from services.procedures.gather.reader import Reader
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.traffic_files import library_of, tls_files


def wanted_files(hosts: Iterable[HostFacts]) -> tuple[str, ...]:
    """Return every path that some host's options name, sorted."""
    everyone = tuple(hosts)
    named = {path for host in everyone for _, path in tls_files(host)}
    return tuple(sorted(named | {path for host in everyone if (path := library_of(host))}))[: commands.MOST_PATHS]


def with_files(host: HostFacts, reader: Reader, wanted: tuple[str, ...]) -> HostFacts:
    """Read which of the files are there, and how large: stat(1) tells those that are, and goes on."""
    if not wanted:
        return host
    output = reader.run("files", commands.FILE_SIZES.read(*wanted, sudo=True))
    if output is None or reader.sudo_works is False:  # a file that a login may not see is no file that is missing
        return host
    return replace(host, files=parse_sizes(output.text, wanted))


def parse_sizes(text: str, wanted: tuple[str, ...]) -> tuple[tuple[str, int | None], ...]:
    """Return (path, bytes) of `stat -c '%s %n'`; None for one that it did not tell: it is not there."""
    sizes = {}
    for line in lines_of(text):
        size, _, path = line.partition(" ")
        sizes[path] = count(size)
    return tuple((path, sizes.get(path)) for path in wanted)
