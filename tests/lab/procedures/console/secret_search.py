"""Every secret of the lab, searched for everywhere a run could have left it: journal, output, reports, hosts, `ps`."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.lab.estate import vault
from tests.lab.estate.estate import Estate
from tests.lab.estate.host import proc

_EVERY_S = 0.2


class SecretSearch:
    """While it is entered it looks at every command line of the machine (the hosts' are among them)."""

    def __init__(self, estate: Estate, *folders: Path) -> None:
        self._estate = estate
        self._folders = folders
        self._secrets = dict(vault.load())
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="secret-search", daemon=True)
        self._seen: set[str] = set()
        self.looks = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=10)

    def _watch(self) -> None:
        while not self._stop.wait(_EVERY_S):
            for pid, argv in proc.processes():
                line = "\0".join(argv)
                self._seen.update(f"{what} in the command line of process {pid}: {argv[0]}" for what in self._in(line))
            self.looks += 1

    def _in(self, text: str) -> list[str]:
        return [what for what, secret in self._secrets.items() if secret in text]

    def assert_none(self, *texts: str) -> None:
        """Assert that none was on a command line, in these texts, in a file of the folders or in a host's journal."""
        assert self.looks > 0, "no command line was looked at"
        found = sorted(self._seen)
        for number, text in enumerate(texts):
            found += [f"{what} in text {number}" for what in self._in(text)]
        for path in (path for folder in self._folders for path in folder.rglob("*") if path.is_file()):
            content = path.read_bytes().decode("latin-1")
            found += [f"{what} in {path.name}" for what in self._in(content)]
        for host in self._estate.hosts:
            said = self._estate.host(host.name).sh(
                "journalctl -o cat --no-pager -n 4000; cat /run/pilothouse/* 2>/dev/null; true", limit_s=60
            )
            found += [f"{what} in the journal of {host.name}" for what in self._in(said.out)]
        assert not found, found
