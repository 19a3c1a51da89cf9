"""`inventory`: show what is written down, check every way in, import hosts from other programs' settings."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from app.cli.arguments import FINDINGS, GOOD
from app.compose import read_inventory
from app.places import inventory_file
from app.vault import SessionVault
from services.connections.known_certificates import accept_certificate
from services.connections.probe import AccessReport, probe_access
from services.errors import BadInput
from services.inventory.imports import ImportReport, merge, settle_secrets
from services.inventory.imports_mycnf import import_my_cnf
from services.inventory.imports_ssh import import_ssh_config
from services.inventory.imports_workbench import import_workbench
from services.inventory.model import HostEntry, Inventory
from services.inventory.toml_file import load_inventory
from services.inventory.toml_save import save_inventory
from services.secrets import SystemVault
from services.words import english, tr

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
        ways["sql"] = {"user": host.sql.user, "port": host.sql.port, "via": host.sql.via, "tls": host.sql.tls}
    return ways


def _line(host: HostEntry) -> str:
    ssh = f"ssh {host.ssh.user}@{host.ssh.port} sudo {host.ssh.sudo}" if host.ssh else tr("no ssh")
    sql = f"sql {host.sql.user}@{host.sql.port} {host.sql.via}, tls {host.sql.tls}" if host.sql else tr("no sql")
    return f"{host.name:<16} {host.address:<24} {ssh}; {sql}\n"


def _show(inventory: Inventory, *, as_json: bool) -> None:
    if as_json:
        clusters = [
            {"name": c.name, "seeds": list(c.seeds), "expected": c.expected, "networks": list(c.networks)}
            for c in inventory.clusters
        ]
        document = {"path": inventory.path, "hosts": [_document(h) for h in inventory.hosts], "clusters": clusters}
        sys.stdout.write(json.dumps(document) + "\n")
        return
    sys.stdout.write(f"{inventory.path}\n")
    for host in inventory.hosts:
        sys.stdout.write(_line(host))
    for cluster in inventory.clusters:
        sys.stdout.write(tr("cluster {name}: seeds {seeds}\n", name=cluster.name, seeds=", ".join(cluster.seeds)))
        if cluster.networks:
            sys.stdout.write(tr("  may be asked once named: {networks}\n", networks=", ".join(cluster.networks)))


def _check(inventory: Inventory, accepted: tuple[str, ...], *, as_json: bool) -> int:
    vault = SessionVault()
    reports = [_checked(host, vault, accepted) for host in inventory.hosts]
    for report in reports:
        if as_json:
            sys.stdout.write(json.dumps(_report_document(report)) + "\n")
        else:
            sys.stdout.write(f"{report.host}\n{report.as_text()}\n")
    return GOOD if all(report.ok for report in reports) else FINDINGS


def _checked(host: HostEntry, vault: SessionVault, accepted: tuple[str, ...]) -> AccessReport:
    """Try every way to a host; where a person named the certificate that it shows, keep that and try again."""
    report = probe_access(host, vault)
    asked = report.certificate
    if asked is None or asked.fingerprint not in {fingerprint.upper() for fingerprint in accepted}:
        return report
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
    present = load_inventory(path) if path.exists() else Inventory(path=str(path))
    if options.write:
        report = settle_secrets(report, SystemVault())
    merged = merge(present, report)
    sys.stdout.write(report.preview() + "\n")
    for name in merged.conflicts:
        sys.stdout.write(tr("  {name}: stands in the inventory with other values; it is left as it is.\n", name=name))
    if not merged.added:
        sys.stdout.write(tr("Nothing is to be written: there is no new host in it.\n"))
        return FINDINGS if report.problems and not report.hosts else GOOD
    if not options.write:
        sys.stdout.write(
            tr("Nothing was written. Add --write to put {count} new into {path}.\n", count=len(merged.added), path=path)
        )
        return GOOD
    save_inventory(merged.inventory, path)
    sys.stdout.write(tr("Written: {path}\n", path=path))
    return GOOD
