"""Which option files of a host are read, and which its server reads that the console can't."""

from __future__ import annotations

from typing import cast

from services.connections.ports import Output
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.procedures.plan.part import Reading
from services.procedures.plan.parts.server.options import Options
from tests.unit.procedures.host_of import host_of

FOLDER = "/etc/mysql/conf.d"


class Answers:
    """A host with these files and folders; everything else is not there."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = {commands.CONTENT.read(path, sudo=True): text for path, text in texts.items()}
        names = "".join(f"{path.rpartition('/')[2]}\n" for path in texts if path.startswith(FOLDER))
        self._texts[commands.ALL_NAMES.read(FOLDER, sudo=True)] = (
            f"{names}50 site.cnf\nlocal\u00e9.cnf\nREADME.md\nold.cnf~\n"
        )

    def run(self, part: str, read: CommandRead, *, limit_s: float = 8.0) -> Output:
        del part, limit_s
        text = self._texts.get(read)
        return Output(0, text.encode(), b"") if text is not None else Output(1, b"", b"No such file or directory\n")

    def text(self, part: str, read: CommandRead) -> str | None:
        return self.run(part, read).text


def test_that_a_name_that_no_read_takes_is_told_and_a_comment_behind_a_path_is_none_of_it() -> None:
    root = f"[mysqld]\nport=1\n  !includedir   {FOLDER}/   # ours\n!include /etc/mysql/none.cnf\n"
    texts = {f"{FOLDER}/{name}": "[mysqld]\nport=2\n" for name in ("b.cnf", "a.cnf", ".own.cnf")}
    host = Answers({"/etc/my.cnf": root, **texts})
    found = Options.read(host_of("n1"), cast("Reading", host))
    assert [path for path, _ in found.files] == [
        "/etc/my.cnf",
        *(f"{FOLDER}/{n}" for n in (".own.cnf", "a.cnf", "b.cnf")),
    ]
    assert found.unread == (f"{FOLDER}/50 site.cnf", f"{FOLDER}/local\u00e9.cnf")
