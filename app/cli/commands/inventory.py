"""`inventory`: show what is written down, check every way in, import hosts from other programs' settings."""

from __future__ import annotations

import sys
import threading
from argparse import Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from app.cli.arguments import FINDINGS, GOOD
from app.cli.machine import print_json
from app.places import inventory_file
from app.vault import SessionVault
from app.written_estate import read_inventory
from services.connections.probe.test import AccessReport, probe_access
from services.connections.tls.known_certificates import accept_certificate
from services.errors import BadInput
from services.i18n import english, tr
from services.inventory.imports import ImportReport, Merged, merge, settle_secrets
from services.inventory.imports_mycnf import import_my_cnf
from services.inventory.imports_ssh import import_ssh_config
from services.inventory.imports_workbench import import_workbench
from services.inventory.model import HostEntry, Instance, Inventory, SqlAccess, with_instances
from services.inventory.toml_file import load_inventory
from services.inventory.toml_save import save_inventory
from services.secrets import SystemVault
from services.workstation.files import is_missing

_AT_ONCE = 8
"""Hosts tried side by side: below the ten logins at once from which a jump host's sshd begins to drop some
(sshd_config(5), MaxStartups 10:30:100)."""
_accepting = threading.Lock()  # the file of accepted certificates is read, changed and written whole
_IMPORTS = {"ssh": import_ssh_config, "mycnf": import_my_cnf, "workbench": import_workbench}


def run(options: Namespace) -> int:
    """Show, check or import."""
    if options.action == "import":
        return _import(options)
    inventory = read_inventory(options)
    if options.action == "check":
        return _check(inventory, tuple(options.accept_certificate), as_json=getattr(options, "json", False))
    _show(inventory, as_json=getattr(options, "json", False))
    return GOOD


def _document(host: HostEntry) -> dict[str, object]:
    ways: dict[str, object] = {"name": host.name, "address": host.address}
    if host.ssh is not None:
        ways["ssh"] = {"user": host.ssh.user, "port": host.ssh.port, "sudo": host.ssh.sudo, "jump": host.ssh.jump}
    if host.sql is not None:
        ways[host.what.way] = _sql_document(host.sql)
    if host.beside:
        ways["instances"] = [_instance_document(one) for one in host.beside]
    return ways


def _sql_document(access: SqlAccess) -> dict[str, object]:
    return {"user": access.user, "port": access.port, "via": access.via, "tls": access.tls}


def _instance_document(one: Instance) -> dict[str, object]:
    way = {} if one.access is None else {one.what.way: _sql_document(one.access)}
    return {"name": one.key, "kind": one.kind, "port": one.port, "read": one.what.read, **way}


def _lines(host: HostEntry) -> Iterator[str]:
    port = f"@{host.ssh.port}" if host.ssh and host.ssh.port else ""  # else ssh_config's
    ssh = f"ssh {host.ssh.user}{port} sudo {host.ssh.sudo}" if host.ssh else tr("no ssh")
    yield f"{host.name:<16} {host.address:<24} {ssh}; {_sql_words(host.sql, host.what.way)}\n"
    for one in host.beside:
        words = _sql_words(one.access, one.what.way) if one.what.read else tr("not read yet")
        yield f"  {one.key:<14} {tr(one.what.name):<24} {words}\n"


def _sql_words(access: SqlAccess | None, way: str) -> str:
    return f"{way} {access.user}@{access.port} {access.via}, tls {access.tls}" if access is not None else tr("no sql")


def _show(inventory: Inventory, *, as_json: bool) -> None:
    if as_json:
        clusters = [
            {"name": c.name, "seeds": list(c.seeds), "expected": c.expected, "networks": list(c.networks)}
            for c in inventory.clusters
        ]
        document = {"path": inventory.path, "hosts": [_document(h) for h in inventory.hosts], "clusters": clusters}
        print_json(document)
        return
    sys.stdout.write(f"{inventory.path}\n")
    for host in inventory.hosts:
        sys.stdout.writelines(_lines(host))
    for cluster in inventory.clusters:
        sys.stdout.write(tr("cluster {name}: seeds {seeds}\n", name=cluster.name, seeds=", ".join(cluster.seeds)))
        if cluster.networks:
            sys.stdout.write(tr("  may be queried if named: {networks}\n", networks=", ".join(cluster.networks)))
        if cluster.retired:
            sys.stdout.write(tr("  permanently removed: {names}\n", names=", ".join(cluster.retired)))


def _check(inventory: Inventory, accepted: tuple[str, ...], *, as_json: bool) -> int:
    """Try the ways to all hosts side by side, and tell of each in the inventory's order as soon as that is known."""
    vault = SessionVault()
    good = True
    named = {host.name: host.beside for host in inventory.hosts}
    pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="pilothouse-check")
    try:
        for report in pool.map(lambda host: _checked(host, vault, accepted), with_instances(inventory.hosts)):
            if as_json:
                print_json(_report_document(report))
            else:
                sys.stdout.write(f"{report.host}\n{report.as_text()}\n")
            _tell_unread(named.get(report.host, ()), as_json=as_json)
            sys.stdout.flush()
            good = good and report.ok
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # who interrupts waits for no host that was not begun
    return GOOD if good else FINDINGS


def _tell_unread(instances: Sequence[Instance], *, as_json: bool) -> None:
    """Write a line of each instance that is only named: there is no way to try."""
    for one in instances:
        if one.what.read:
            continue
        if as_json:
            print_json({"host": one.key, "kind": one.kind, "read": False, "steps": []})
        else:
            sys.stdout.write(f"{one.key}\n    {tr(one.what.name)}: {tr('not read yet')}\n")


def _checked(host: HostEntry, vault: SessionVault, accepted: tuple[str, ...]) -> AccessReport:
    """Try every way to a host; where a person named the certificate that it shows, keep that and try again."""
    report = probe_access(host, vault)
    asked = report.certificate
    if asked is None or asked.fingerprint not in {fingerprint.upper() for fingerprint in accepted}:
        return report
    with _accepting:
        accept_certificate(asked)
    return probe_access(host, vault)


def _report_document(report: AccessReport) -> dict[str, object]:
    steps = [
        {
            "name": step.name,
            "state": step.state,
            "sentence": english(step.sentence),
            "try": [english(advice) for advice in step.try_],
            "seconds": round(step.seconds, 3),
        }
        for step in report.steps
    ]
    return {"host": report.host, "ok": report.ok, "steps": steps}


def _import(options: Namespace) -> int:
    if options.origin is None:
        raise BadInput(tr("What should be imported?"), try_=(tr("Add --from ssh, --from mycnf or --from workbench."),))
    report: ImportReport = _IMPORTS[options.origin](options.file)
    path = inventory_file(options)
    present = Inventory(path=str(path)) if is_missing(path) else load_inventory(path)
    merged = merge(present, report)
    if options.write:
        taken = (*merged.added, *merged.unchanged)
        report = settle_secrets(report, SystemVault(), left={host.name for host in report.hosts} - {*taken})
        merged = merge(present, report)
    written = options.write and bool(merged.added)
    if getattr(options, "json", False):
        if written:
            save_inventory(merged.inventory, path)
        print_json(_import_document(report, merged, str(path), written=written))
        return _import_code(report, merged)
    sys.stdout.write(report.preview() + "\n")
    sys.stdout.writelines(f"  problem: {problem}\n" for problem in merged.problems)
    for name in merged.conflicts:
        sys.stdout.write(tr("  {name}: already in the inventory with different values; left unchanged.\n", name=name))
    if not merged.added:
        sys.stdout.write(tr("Nothing to write: there is no new host.\n"))
        return _import_code(report, merged)
    if not options.write:
        sys.stdout.write(
            tr(
                "Nothing was written. Add --write to add the new hosts ({count}) to {path}.\n",
                count=len(merged.added),
                path=path,
            )
        )
        return GOOD
    save_inventory(merged.inventory, path)
    sys.stdout.write(tr("Written: {path}\n", path=path))
    return GOOD


def _import_code(report: ImportReport, merged: Merged) -> int:
    return FINDINGS if report.problems and not report.hosts and not merged.added else GOOD


def _import_document(report: ImportReport, merged: Merged, path: str, *, written: bool) -> dict[str, object]:
    return {
        "source": report.source,
        "hosts": [_document(host) for host in report.hosts],
        "notes": [english(note) for note in report.notes],
        "problems": [english(problem) for problem in (*report.problems, *merged.problems)],
        "added": list(merged.added),
        "unchanged": list(merged.unchanged),
        "conflicts": list(merged.conflicts),
        "inventory": path,
        "written": written,
    }
