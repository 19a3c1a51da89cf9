"""Would a start found a cluster of its own instead of joining this one? (page bootstrap-after-crash, pitfalls)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from services.facts.reading import words
from services.facts.server.option_files import group_members
from services.facts.server.server_groups import read_after
from services.facts.server.values import OFF_WORDS
from services.procedures.catalogue.checks.parts import checked, known, unread
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.parts.server.starting import Starting, start_unit


def joins_others(facts: Facts, hosts: tuple[str, ...]) -> tuple[Check, ...]:
    """The option files name other members to join, and don't say wsrep_new_cluster (left there after a bootstrap)."""
    return tuple(_joins(host) for host in known(facts, hosts))


def joins_others_once_written(facts: Facts, name: str, path: str) -> Check:
    """The same of a host that has no configuration yet: what its files will say when ours stands at `path`.

    Ours gives wsrep_cluster_address; what stands in a file that the server reads later counts instead.
    """
    host = facts.host(name)
    after = read_after(host[Options].files, path, host[Program].version)
    later = [one for one in after if one.name == "wsrep_cluster_address"]
    wins = [
        f"{one.path} is read after {path} and sets wsrep_cluster_address = {words(one.value, 200) or 'nothing'} "
        f"on {name}, which takes precedence"
        for one in later[-1:]
    ]
    blind = [
        f"{file} of {host.host}, which its server reads, could not be read: it may set wsrep_cluster_address"
        for file in host[Options].unread
    ]
    good = f"{path} will name the members, and no later file overrides it"
    found = _check(host, [*_founds(host), *wins], good, blind)
    if not wins:
        return found
    way = f"Remove wsrep_cluster_address from {later[-1].path} on {name}: {path} will name the members."
    return replace(found, try_=(way, *found.try_[0 if _founds(host) else 1 :]))


def founds_by_option(host: HostFacts) -> bool:
    """Return whether the option files say wsrep_new_cluster: alone on its line it is on."""
    new = host[Options].option("mysqld", "wsrep_new_cluster")
    return new is not None and new.strip().lower() not in OFF_WORDS


def _joins(host: HostFacts) -> Check:
    address, wrong = host[Options].option("mysqld", "wsrep_cluster_address"), _founds(host)
    if address is not None and not group_members(address):
        wrong.append(f"wsrep_cluster_address of {host.host} is {address or 'empty'}: it names no node to join")
    address_text = (
        f"wsrep_cluster_address of {host.host}: {address}"
        if address
        else "wsrep_cluster_address is not set in the option files"
    )
    return _check(host, wrong, address_text)


def _founds(host: HostFacts) -> list[str]:
    return [f"wsrep_new_cluster is set in the option files of {host.host}"] if founds_by_option(host) else []


def _check(host: HostFacts, wrong: list[str], evidence: str, blind: Sequence[str] = ()) -> Check:
    blind = (
        [*blind]
        if host[Options].known
        else [unread(host, "which members its option files name", "options", "ssh"), *blind]
    )
    line = host[Starting].line
    left = line.founding() if line is not None else ()
    wrong = [*wrong, *(f"on {host.host} {one}" for one, _ in left)]
    blind += _blind(host)
    ways = [f"List the members in wsrep_cluster_address of {host.host}, and remove wsrep_new_cluster."]
    ways = [*(ways if len(wrong) > len(left) else ()), *dict.fromkeys(f"On {host.host}: {way}" for _, way in left)]
    return checked(
        "JOINS-OTHERS",
        f"{host.host} joins this cluster when it starts",
        each="Each node joins this cluster when it starts",
        block=wrong,
        unread=blind,
        good=f"{evidence}; neither systemd nor {start_unit(host)} overrides it",
        why="A node that has no address to join, or that is configured to bootstrap, starts a second cluster "
        "or does not start.",
        try_=tuple(ways),
        host=host.host,
        absolute=True,
    )


def _blind(host: HostFacts) -> list[str]:
    """Return why it is not known what its unit gives the server besides its option files."""
    line = host[Starting].line
    if line is None:
        return [unread(host, f"the options that {start_unit(host)} passes to the server", "start-line", "ssh")]
    found = list(line.blind(tuple(path for path, _ in host[Options].files)))
    if line.script:
        found.append(
            f"{line.unit} of {host.host} starts the script {line.script}: the options that it passes to the server "
            "are not known"
        )
    return found
