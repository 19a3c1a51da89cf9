"""The client folder of an estate: keys, known_hosts, ssh_config, the lab's CA and the inventories for Pilothouse."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.lab.estate import vault
from tests.lab.estate.paths import private_dir, state_root
from tests.lab.estate.servers.engine import MONGOD, MONGOS, MYSQL
from tests.lab.estate.servers.mongodb import PORTS
from tests.lab.estate.shell import run
from tests.lab.estate.spec import EstateSpec

_KEY = ["ssh-keygen", "-q", "-t", "ed25519"]


def client_dir(spec: EstateSpec) -> Path:
    return state_root() / spec.name / "client"


def make_keys(spec: EstateSpec) -> None:
    """The lab's two user keys: one without passphrase, one encrypted (its passphrase is in the vault)."""
    private_dir(state_root())
    folder = private_dir(client_dir(spec))
    if not (folder / "id_ed25519.pub").exists():
        run([*_KEY, "-N", "", "-C", f"lab-{spec.name}", "-f", str(folder / "id_ed25519")])
    if not (folder / "id_encrypted.pub").exists():
        plain = folder / "id_encrypted"
        run([*_KEY, "-N", "", "-C", f"lab-{spec.name}-encrypted", "-f", str(plain)])
        _encrypt(plain, vault.load()["passphrase"])


def _encrypt(key: Path, passphrase: str) -> None:
    """Encrypt a private key in place; the passphrase travels by an SSH_ASKPASS helper's input file, not by argv."""
    asked = key.with_name("askpass")
    secret = key.with_name("askpass.secret")
    secret.touch(mode=0o600)
    secret.write_text(passphrase + "\n", encoding="utf-8")
    asked.write_text(f"#!/bin/sh\ncat '{secret}'\n", encoding="utf-8")
    asked.chmod(0o700)
    try:
        env = {"SSH_ASKPASS": str(asked), "SSH_ASKPASS_REQUIRE": "force", "PATH": "/usr/bin:/bin"}
        run(["setsid", "ssh-keygen", "-q", "-p", "-f", str(key)], env=env)
    finally:
        asked.unlink()
        secret.unlink()


def authorized_keys(spec: EstateSpec) -> str:
    folder = client_dir(spec)
    return "".join((folder / f"{k}.pub").read_text(encoding="utf-8") for k in ("id_ed25519", "id_encrypted"))


def make_host_key(spec: EstateSpec, name: str, target: Path) -> None:
    """An own ed25519 host key for `name` at `target` (kept if there is one); its public half goes to the client."""
    if not target.exists():
        run([*_KEY, "-N", "", "-C", name, "-f", str(target)])
    public = target.with_suffix(".pub").read_text(encoding="utf-8").split()[:2]
    folder = client_dir(spec) / "hostkeys"
    folder.mkdir(exist_ok=True)
    line = f"{name},{spec.address(name)} {' '.join(public)}\n"
    (folder / name).write_text(line, encoding="utf-8")


def write_client(spec: EstateSpec) -> None:
    """known_hosts, ssh_config, inventory.toml (the seeds only) and inventory-all.toml (every host)."""
    folder = client_dir(spec)
    keys = "".join((folder / "hostkeys" / h.name).read_text(encoding="utf-8") for h in spec.hosts)
    (folder / "known_hosts").write_text(keys, encoding="utf-8")
    shutil.rmtree(folder / "hostkeys")
    blocks = [
        f"Host {h.name}\n  HostName {spec.address(h.name)}\n  User dba\n  Port 22\n  IdentityFile {folder}/id_ed25519\n"
        f"  IdentitiesOnly yes\n  UserKnownHostsFile {folder}/known_hosts\n  StrictHostKeyChecking yes\n"
        for h in spec.hosts
    ]
    (folder / "ssh_config").write_text("\n".join(blocks), encoding="utf-8")
    (folder / "inventory.toml").write_text(inventory(spec, spec.seeds), encoding="utf-8")
    (folder / "inventory-all.toml").write_text(inventory(spec, tuple(h.name for h in spec.hosts)), encoding="utf-8")


def inventory(spec: EstateSpec, names: tuple[str, ...]) -> str:
    """Pilothouse's inventory of `names`; secrets are references to environment variables (`lab.py env`)."""
    folder = client_dir(spec)
    parts = ["version = 1\n", *_clusters(spec)]
    parts += [
        f'[[host]]\nname = "{name}"\naddress = "{spec.address(name)}"\n'
        f'[host.ssh]\nuser = "dba"\nport = 22\nkey = "{folder}/id_ed25519"\n'
        f'known_hosts = "{folder}/known_hosts"\nsudo = "nopasswd"\n'
        f"{_server(spec, name)}"
        for name in names
    ]
    return "\n".join(parts)


def _server(spec: EstateSpec, name: str) -> str:
    """The way into the server. MongoDB's have no accounts here, and no TLS: they are asked through SSH."""
    host = spec.host(name)
    if host.engine in (MONGOD, MONGOS):
        way = f'[host.mongodb]\nport = {PORTS[host.role]}\nvia = "tunnel"\n'
        account = f'user = "watch"\npassword = "env:{vault.VARIABLES["observer"]}"\n'
        return way + (account if spec.accounts else "")
    return (
        f'[host.sql]\nuser = "{spec.observer}"\npassword = "env:{vault.VARIABLES["observer"]}"\n'
        f'operator_user = "pilot"\noperator_password = "env:{vault.VARIABLES["pilot"]}"\n'
        f"port = 3306\n{_way(spec, name)}"
    )


def _clusters(spec: EstateSpec) -> list[str]:
    """One cluster an estate; a group and the asynchronous servers beside it have nothing in common and are two."""
    group = [h.name for h in spec.hosts if h.role == "group"]
    if not group:
        return [_cluster(spec.name, spec.seeds, (f"{spec.network}.0/24",))]
    others = [h.name for h in spec.hosts if h.role != "group"]
    return [
        _cluster(f"{spec.name}-{kind}", [n for n in names if n in spec.seeds], [spec.address(n) for n in names])
        for kind, names in (("group", group), ("async", others))
    ]


def _cluster(name: str, seeds: Sequence[str], networks: Sequence[str]) -> str:
    return f'[[cluster]]\nname = "{name}"\nseeds = {json.dumps(list(seeds))}\nnetworks = {json.dumps(list(networks))}\n'


def _way(spec: EstateSpec, name: str) -> str:
    """Directly, the server verified by the lab's CA; a spare has the packages' defaults and no certificate: SSH.

    The certificate that MySQL makes for itself names no host: only who signed it can be verified.
    """
    if spec.host(name).role == "spare":
        return 'via = "tunnel"\n'
    verified = 'tls = "verify-ca"\n' if spec.host(name).engine is MYSQL else ""
    return f'via = "direct"\n{verified}ca = "{client_dir(spec)}/ca.pem"\n'
