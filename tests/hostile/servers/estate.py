"""An estate of hostile servers in a process of its own, so that their work is not the console's: `Estate`.

The process prints where each listens, as one line of JSON, and ends with its standard input.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).resolve().parents[3]
HONEST = "honest"


@dataclass(frozen=True)
class Hostile:
    """One host: its name in the inventory, the way in, the mode. `told`: it must end with a sentence of its own."""

    name: str
    way: str
    mode: str
    told: bool
    port: int = 0


class Estate:
    """The servers, and an inventory that names them beside the honest one. A with block ends them."""

    def __init__(self, folder: Path, *, every: int = 1) -> None:
        """Start the honest server, all liars, and every so-manieth of the other modes."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.servers.estate", str(every)], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self._process.stdout is not None
        document = json.loads(self._process.stdout.readline())
        self.hosts = tuple(Hostile(**one) for one in document["hosts"])
        self.inventory = folder / "inventory.toml"
        (folder / "known_hosts").write_text(document["known_hosts"], encoding="utf-8")
        (folder / "config").write_text("", encoding="utf-8")
        self.inventory.write_text("version = 1\n" + "".join(_entry(one, folder) for one in self.hosts), "utf-8")
        self.inventory.chmod(0o600)

    def __enter__(self) -> Self:
        """Return self."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the servers."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def _entry(one: Hostile, folder: Path) -> str:
    head = f'\n[[host]]\nname = "{one.name}"\naddress = "127.0.0.1"\n'
    if one.way == "sql":
        return f'{head}[host.sql]\nuser = "obs"\nport = {one.port}\ntls = "off"\n'
    ssh = f'user = "dba"\nport = {one.port}\npassword = "env:HOSTILE_PASSWORD"\nagent = false\n'
    return f'{head}[host.ssh]\n{ssh}config = "{folder}/config"\nknown_hosts = "{folder}/known_hosts"\n'


def modes(every: int) -> Iterable[Hostile]:
    """Return the hosts of an estate, the honest one first."""
    from tests.hostile.servers import liars, mysql_server, ssh_server

    yield Hostile(HONEST, "sql", HONEST, told=False)
    asked = (
        (mysql_server.MODES, "sql", True, every), (liars.LIARS, "sql", False, 1),
        (ssh_server.MODES, "ssh", True, every), (ssh_server.LIARS, "ssh", False, 1),
    )  # fmt: skip
    number = 0
    for known, way, told, step in asked:
        for mode in list(known)[::step]:
            number += 1
            yield Hostile(f"h{number:02}", way, mode, told)


def _serve(every: int) -> None:
    from tests.hostile.servers.liars import HONEST as TRUTH
    from tests.hostile.servers.liars import LIARS, speaking
    from tests.hostile.servers.listener import Listener
    from tests.hostile.servers.mysql_server import MODES
    from tests.hostile.servers.ssh_server import hostile_ssh, known_as

    scripts = {**MODES, **{name: speaking(tell) for name, tell in LIARS.items()}, HONEST: speaking(TRUTH)}
    hosts, listeners, known = [], [], ""
    for one in modes(every):
        listener = hostile_ssh(one.mode) if one.way == "ssh" else Listener(scripts[one.mode])
        listeners.append(listener)
        hosts.append({**one.__dict__, "port": listener.port})
        known += known_as(listener.port)
    sys.stdout.write(json.dumps({"hosts": hosts, "known_hosts": known}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # its threads wait for clients that are gone


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
