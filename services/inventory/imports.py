"""What an import found, shown before anything is written; merging never replaces a host in silence."""

from __future__ import annotations

from dataclasses import dataclass, replace

from services.errors import UserError
from services.i18n import tr
from services.inventory import fields
from services.inventory.lookalikes import alike, told_alike
from services.inventory.model import HostEntry, Inventory
from services.secrets import Secret, SecretRef, Vault


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
    """An inventory after an import: names added, names that stand there already alike, names in conflict (kept)."""

    inventory: Inventory
    added: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


def merge(inventory: Inventory, report: ImportReport, *, overwrite: frozenset[str] = frozenset()) -> Merged:
    """Add the imported hosts. A name that exists with other values is left as it is, unless `overwrite` names it."""
    hosts = {host.name: host for host in inventory.hosts}
    outcome: dict[str, list[str]] = {"added": [], "unchanged": [], "replaced": [], "conflicts": []}
    for host in report.hosts:
        present = hosts.get(host.name)
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


def settle_secrets(report: ImportReport, vault: Vault) -> ImportReport:
    """Put the found passwords into the vault; where it takes one not, the host loses the reference, with a note."""
    refused: dict[SecretRef, str] = {}
    for ref, secret in report.secrets:
        try:
            vault.put(ref, secret)
        except UserError as problem:
            refused[ref] = problem.sentence
    notes = [tr("The password for {ref} was not kept: {why}", ref=ref, why=why) for ref, why in refused.items()]
    hosts = tuple(_without(host, frozenset(refused)) for host in report.hosts)
    return replace(report, hosts=hosts, notes=(*report.notes, *notes), secrets=())


def _without(host: HostEntry, refused: frozenset[SecretRef]) -> HostEntry:
    if host.sql is None or host.sql.password not in refused:
        return host
    return replace(host, sql=replace(host.sql, password=None))


def vetted(report: ImportReport) -> ImportReport:
    """Move hosts that no inventory file could hold (odd names, users, paths) to the problems."""
    good: list[HostEntry] = []
    problems = list(report.problems)
    for host in report.hosts:
        like = alike(host.name, (other.name for other in good))
        why = _fault_of(host) or (told_alike("host", like, host.name) if like else "")
        if why:
            problems.append(tr("A host was left out: {why}.", why=why.rstrip(".")))
        else:
            good.append(host)
    kept = {host.sql.password for host in good if host.sql is not None}
    secrets = tuple((ref, secret) for ref, secret in report.secrets if ref in kept)
    return replace(report, hosts=tuple(good), problems=tuple(problems), secrets=secrets)


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
