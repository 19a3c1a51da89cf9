"""The lab's own certificate authority and one server certificate per host, made with openssl."""

from __future__ import annotations

import os
from pathlib import Path

from tests.lab.estate.client import client_dir
from tests.lab.estate.host.image import ensure_image
from tests.lab.estate.paths import private_dir, state_root
from tests.lab.estate.servers.config_mysql import CA
from tests.lab.estate.servers.engine import MYSQL
from tests.lab.estate.shell import run
from tests.lab.estate.spec import EstateSpec

_DAYS = "30"
_NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def make_ca(spec: EstateSpec) -> None:
    """A CA for this estate: its certificate goes to the client folder, its key stays in the state folder.

    MySQL makes its own when it is installed: that one is handed to the client, and there is no other.
    """
    if spec.hosts[0].engine is MYSQL:
        image = ensure_image(spec.hosts[0].release)
        (client_dir(spec) / "ca.pem").write_bytes((image / CA.lstrip("/")).read_bytes())
        return
    folder = private_dir(state_root() / spec.name / "ca")
    if (folder / "ca.pem").exists():
        return
    argv = ["openssl", "req", "-x509", *_NEW_KEY, "-days", _DAYS, "-subj", f"/CN=Pilothouse lab {spec.name} CA"]
    run([*argv, "-keyout", str(folder / "ca.key"), "-out", str(folder / "ca.pem")])
    (client_dir(spec) / "ca.pem").write_bytes((folder / "ca.pem").read_bytes())


def make_server_certificate(spec: EstateSpec, name: str, target: Path, owner: tuple[int, int]) -> None:
    """Certificate for `name` (subject alternative names: host name and address) with key and CA in `target`."""
    if (target / "server.pem").exists():
        return
    target.mkdir(parents=True, exist_ok=True)
    ca = state_root() / spec.name / "ca"
    request = target / "server.csr"
    names = target / "san.cnf"
    names.write_text(f"subjectAltName=DNS:{name},IP:{spec.address(name)}\n", encoding="utf-8")
    run(
        [
            "openssl",
            "req",
            *_NEW_KEY,
            "-subj",
            f"/CN={name}",
            "-keyout",
            str(target / "server.key"),
            "-out",
            str(request),
        ]
    )
    sign = ["openssl", "x509", "-req", "-in", str(request), "-days", _DAYS, "-extfile", str(names)]
    sign += ["-CA", str(ca / "ca.pem"), "-CAkey", str(ca / "ca.key"), "-set_serial", str(spec.host(name).number)]
    run([*sign, "-out", str(target / "server.pem")])
    (target / "ca.pem").write_bytes((ca / "ca.pem").read_bytes())
    request.unlink()
    names.unlink()
    for path in target.iterdir():
        os.chown(path, *owner)
        path.chmod(0o600 if path.suffix == ".key" else 0o644)
