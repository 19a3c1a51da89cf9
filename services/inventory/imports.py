"""What an import found, shown before anything is written; merging never replaces a host in silence."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from services.errors import UserError
from services.i18n import tr
from services.inventory import fields
from services.inventory.lookalikes import alike, told_alike
from services.inventory.model import HostEntry, Inventory
from services.secrets import Secret, SecretRef, Vault
from services.visible import as_line

_MOST_OF_A_NAME = 100
_MOST_OF_A_PLACE = 300
"""Characters of what a file says, within a sentence."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What another program's file gave.

    Attributes:
        source: the file. hosts: entries, ready to merge.
        notes: what was left out or changed on the way, one sentence each. problems: what could not be read.
        secrets: passwords found, with the keyring names they would get; not yet stored anywhere.
    """

    source: str
    hosts: tuple[HostEntry, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    secrets: tuple[tuple[SecretRef, Secret], ...] = ()

    def preview(self) -> str:
        """Return what a person sees before deciding: hosts, notes, problems. No secret is in it."""
        count = "1 host" if len(self.hosts) == 1 else f"{len(self.hosts)} hosts"
        lines = [f"{self.source}: {count}", *(f"  {_described(host)}" for host in self.hosts)]
        lines += [f"  note: {note}" for note in self.notes]
        lines += [f"  problem: {problem}" for problem in self.problems]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Merged:
    """An inventory after an import: names added, names that stand there already alike, names in conflict (kept).

    `problems`: a sentence for each host that could be taken for something the inventory has.
    """

    inventory: Inventory
    problems: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


def merge(inventory: Inventory, report: ImportReport, *, overwrite: frozenset[str] = frozenset()) -> Merged:
    """Add the imported hosts. A name that exists with other values is left as it is, unless `overwrite` names it."""
    hosts = {host.name: host for host in inventory.hosts}
    taken = tuple(key for host in inventory.hosts for key in host.keys)
    outcome: dict[str, list[str]] = {"added": [], "unchanged": [], "replaced": [], "conflicts": [], "problems": []}
    for host in report.hosts:
        present = hosts.get(host.name)
        if present is None and (why := _taken_for(host.name, taken)):
            outcome["problems"].append(_left_out(host.name, "", why))
            continue
        if present is None:
            kind = "added"
        elif present == host:
            kind = "unchanged"
        else:
            kind = "replaced" if host.name in overwrite else "conflicts"
        outcome[kind].append(host.name)
        if kind != "conflicts":
            hosts[host.name] = host
    return Merged(replace(inventory, hosts=tuple(hosts.values())), **{k: tuple(v) for k, v in outcome.items()})


def _taken_for(name: str, taken: Sequence[str]) -> str:
    """Return why a new host can't have a name beside what an inventory has: hosts and instances; '' where it can."""
    if name in taken:
        return tr('the instance would be called "{key}", and a host already has that name.', key=name)
    like = alike(name, taken)
    return told_alike("host", like, name) if like else ""


def settle_secrets(report: ImportReport, vault: Vault, *, left: Collection[str] = ()) -> ImportReport:
    """Put the found passwords into the vault; where it takes one not, the host loses the reference, with a note.

    `left`: hosts that are left as the inventory has them: what the vault has for those stays, too.
    """
    refused: dict[SecretRef, str] = {}
    kept = {ref for host in report.hosts if host.name not in left and (ref := _reference(host)) is not None}
    for ref, secret in report.secrets:
        try:
            if ref in kept:
                vault.put(ref, secret)
        except UserError as problem:
            refused[ref] = problem.sentence
    why = dict.fromkeys((ref for ref, _ in report.secrets if ref not in kept), tr("its host is not imported"))
    notes = [
        tr("The password for {ref} was not kept: {why}", ref=ref, why=told) for ref, told in (why | refused).items()
    ]
    hosts = tuple(_without(host, frozenset(refused)) for host in report.hosts)
    return replace(report, hosts=hosts, notes=(*report.notes, *notes), secrets=())


def _reference(host: HostEntry) -> SecretRef | None:
    return None if host.sql is None else host.sql.password


def _without(host: HostEntry, refused: frozenset[SecretRef]) -> HostEntry:
    if host.sql is None or _reference(host) not in refused:
        return host
    return replace(host, sql=replace(host.sql, password=None))


def vetted(report: ImportReport, places: Mapping[str, str]) -> ImportReport:
    """Move hosts that no inventory file could hold (odd names, users, paths) to the problems, each by its name.

    `places`: name -> where the source has it ("~/.ssh/config, line 3", "[clientorders]"); '' where its name says that.
    """
    good: list[HostEntry] = []
    problems = list(report.problems)
    for host in report.hosts:
        like = alike(host.name, (other.name for other in good))
        why = _fault_of(host) or (told_alike("host", like, host.name) if like else "")
        if why:
            problems.append(_left_out(host.name, places.get(host.name, ""), why))
        else:
            good.append(host)
    kept = {_reference(host) for host in good}
    secrets = tuple((ref, secret) for ref, secret in report.secrets if ref in kept)
    return replace(report, hosts=tuple(good), problems=tuple(problems), secrets=secrets)


def _left_out(name: str, place: str, why: str) -> str:
    """Return the sentence about a host that is not taken over: where it stands, what it is called, and why."""
    where = f"{as_line(place, _MOST_OF_A_PLACE)}: " if place else ""
    words = tr('"{name}" is left out: {why}.', name=as_line(name, _MOST_OF_A_NAME), why=why.rstrip("."))
    return f"{where}{words}"


def _fault_of(host: HostEntry) -> str:
    checked: list[tuple[str, fields.Check, object]] = [
        ("name", fields.name, host.name),
        ("address", fields.address, host.address),
    ]
    for access, checks in ((host.ssh, fields.SSH), (host.sql, fields.SQL)):
        if access is not None:
            checked += [(key, check, getattr(access, key)) for key, check in checks.items()]
    for key, check, value in checked:
        if value is None or (value == "" and key != "name"):
            continue
        try:
            check(str(value) if isinstance(value, SecretRef) else value)
        except fields.BadValue as problem:
            return f'its "{key}" must {problem}'
    return ""


def unique_names(hosts: list[HostEntry]) -> tuple[HostEntry, ...]:
    """Give later hosts of the same name a number, so that none is lost."""
    seen: dict[str, int] = {}
    result: list[HostEntry] = []
    for host in hosts:
        seen[host.name] = seen.get(host.name, 0) + 1
        number = seen[host.name]
        result.append(host if number == 1 else replace(host, name=f"{host.name} ({number})"))
    return tuple(result)


def _described(host: HostEntry) -> str:
    ways: list[str] = []
    if host.ssh is not None:
        login = f"{host.ssh.user}@" if host.ssh.user else ""
        jump = tr(" by way of {jump}", jump=host.ssh.jump) if host.ssh.jump else ""
        port = f":{host.ssh.port}" if host.ssh.port else ""
        ways.append(f"SSH {login}{host.address}{port}{jump}")
    if host.sql is not None:
        password = tr(", password in {password}", password=host.sql.password) if host.sql.password else ""
        ways.append(
            tr(
                "SQL {user} on port {port} ({via}{password})",
                user=host.sql.user,
                port=host.sql.port,
                via=host.sql.via,
                password=password,
            )
        )
    return f"{host.name}: {'; '.join(ways) or host.address}"
