"""Generated option files, and what the vendors' own my_print_defaults makes of them.

    python -m tests.unit.option_files_generated 5000 [PROGRAM ...]

reads that many files with the console's reader and with each program (by default what this machine has), and prints
each difference; it ends with 1 where there is one. A program that needs its own libraries is given as a root folder:
ROOT/usr/bin/my_print_defaults is run with ROOT's loader. What is not generated is where the programs themselves differ
or go wrong (services/option_values.py): NUL bytes, lines of 4,094 bytes and more, options without a name, a comment
behind an included path, an inclusion in a last line without an end.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from services.inventory.imports_mycnf import _Reader
from services.option_values import option_lines

GROUPS = ("client", "mysqld")
LAB_IMAGES = Path("/var/cache/pilothouse-lab/images")
LAB_SERVERS = Path("/var/lib/pilothouse-lab")
_SIGNS = [
    b"a", b"b", b"port", b"user", b"=", b"=", b" ", b"  ", b"\t", b"#", b";", b"'", b'"', b"\\", b"\\n", b"\\s", b"\\q",
    b"\\\\", b'\\"', b"[", b"]", b"!", b"-", b"_", b"\xc3\xa0", b"\xa0", b"\xe4", b"\r", b"\v", b"\f", b"\xe2\x80\x83",
    b"\x1c", b"\x85", b"x y", b"loose-",
]  # fmt: skip
_HEADS = [
    b"[client]", b"[mysqld]", b"[ client]", b"[client ]", b"[client\t] x=1", b"[CLIENT]", b"[mysqld-8.0]", b"[]",
    b"[ ]", b"[cl#ient]", b"[client#]", b"[client]]", b" [client]", b"[client", b"[mysqld] # x", b"[client-server]",
    b"[clien]",
]  # fmt: skip
_NAMES = [b"user", b"password", b"a b", b"loose_x", b"port ", b" x", b"Host", b"skip-ssl"]
_GIVEN = [b"=", b" = ", b"= ", b"", b"\t=\t"]
_ODD = [b"!foo bar", b"! foo", b"!", b"!includex a", b"!includedirx", b"#c", b"  ;c", b"", b"  "]


@cache
def programs() -> list[list[str]]:
    """Return the programs that this machine has, each as the beginning of a command."""
    found = [[path] for path in [shutil.which("my_print_defaults")] if path]
    roots = [*sorted(LAB_IMAGES.glob("*")), *sorted(LAB_SERVERS.glob("mysql/*/root"))[:1]]
    return [*found, *filter(None, (_of_root(root) for root in roots))]


def _of_root(root: Path) -> list[str]:
    program = root / "usr/bin/my_print_defaults"
    loaders = [*root.glob("usr/lib64/ld-linux*.so.*"), *root.glob("lib64/ld-linux*.so.*")]
    if not program.is_file() or not loaders:
        return []
    folders = ":".join(str(path) for path in root.glob("usr/lib/*-linux-gnu"))
    command = [str(loaders[0]), "--library-path", folders, str(program)]
    works = subprocess.run([*command, "--no-defaults", "client"], capture_output=True, check=False).returncode == 0
    return command if works else []


def printed(program: Sequence[str], file: Path) -> bytes | None:
    """Return what the program prints of GROUPS, None where it refuses the file."""
    show = ["--show"] if b"--show" in _help_of(tuple(program)) else []
    command = [*program, f"--defaults-file={file}", *show, *GROUPS]
    done = subprocess.run(command, capture_output=True, check=False, env={"HOME": "/nonexistent"})
    return None if done.returncode else done.stdout


@cache
def _help_of(program: tuple[str, ...]) -> bytes:
    return subprocess.run([*program, "--help"], capture_output=True, check=False).stdout


def ours(data: bytes) -> bytes | None:
    """Return the same out of the console's own reader."""
    found = b""
    for line in option_lines(data.decode("utf-8", "surrogateescape")):
        if line.kind == "broken":
            return None
        if line.kind == "option" and line.group.lower() in GROUPS:
            text = line.name if line.value is None else f"{line.name}={line.value}"
            found += b"--" + text.encode("utf-8", "surrogateescape") + b"\n"
    return found


def a_file(chance: random.Random) -> bytes:
    """Return one file's bytes."""
    lines = [b"[client]"] if chance.random() < 0.9 else []
    lines += [_a_line(chance) for _ in range(chance.randint(1, 7))]
    return chance.choice([b"\n", b"\n", b"\r\n"]).join(lines) + chance.choice([b"", b"\n"])


def _a_line(chance: random.Random) -> bytes:
    kind = chance.random()
    signs = b"".join(chance.choice(_SIGNS) for _ in range(chance.randint(0, 9)))
    if kind < 0.14:
        return chance.choice(_HEADS)
    if kind < 0.17:
        return b"n" + signs
    if kind < 0.22:
        return chance.choice(_ODD)
    return chance.choice(_NAMES) + chance.choice(_GIVEN) + signs


def a_tree(chance: random.Random, folder: Path) -> Path:
    """Write files that include those behind them, and return the first."""
    (folder / "conf.d").mkdir(parents=True)
    names = [
        "my.cnf",
        "one.cnf",
        "two.cnf",
        *(f"conf.d/{name}" for name in ("50-b.cnf", "9-a.cnf", "z.txt", "a.b.cnf")),
    ]
    for at, name in enumerate(names):
        lines = [b"[client]"] if chance.random() < 0.93 else []
        for n in range(chance.randint(0, 4)):
            lines.append(chance.choice([b"[client]", b"[mysqld]", b"[other]", b"", b"# x"]))
            value = f"{name}-{n}".encode()
            lines.append(chance.choice([b"user = ", b"loose_Port=", b"password='", b"host=#"]) + value)
            target = folder / chance.choice([*names[at + 1 :], "none.cnf"])
            if chance.random() < 0.3:
                lines.append(b"!include " + bytes(target))
            elif "/" not in name and chance.random() < 0.2:
                lines.append(b"  ! includedir  " + bytes(folder / "conf.d") + chance.choice([b"", b"/", b"/  "]))
        (folder / name).write_bytes(b"\n".join(lines) + b"\n")
        (folder / name).chmod(0o666 if chance.random() < 0.05 else 0o644)
    return folder / "my.cnf"


def differs_in_a_tree(program: Sequence[str], file: Path) -> str:
    """Return what the program and the importer of ~/.my.cnf make of it where that is not the same, else ''."""
    said, reader = printed(program, file), _Reader()
    reader.read(file, 0)
    read = [f"--{name}={value}" for group, name, value in reader.options if group in GROUPS]
    if said is None:
        return "" if reader.problems else f"the program refuses it, ours gives {read}"
    sentences = []
    for line in said.decode().splitlines():
        name, _, value = line[2:].partition("=")
        sentences.append(f"--{name.lower().replace('_', '-').removeprefix('loose-')}={value}")
    return "" if sentences == read else f"the program gives {sentences}, ours {read}"


def differences(count: int, seed: int, commands: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield each difference over `count` generated files (one in eight of them a tree) and all programs."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        for n in range(count):
            if n % 8 == 7:
                file = a_tree(chance, Path(place) / str(n))
                for command in commands:
                    if told := differs_in_a_tree(command, file):
                        yield f"{command[-1]}, tree {n} of seed {seed}: {told}"
                shutil.rmtree(Path(place) / str(n))
                continue
            file, data = Path(place) / "my.cnf", a_file(chance)
            file.write_bytes(data)
            read = ours(data)
            for command in commands:
                if (said := printed(command, file)) != read:
                    yield f"{command[-1]}: {data!r}\n  gives {said!r},\n  ours  {read!r}"


def main(words: Sequence[str]) -> int:
    """Run the comparison; see the head of this file."""
    count = int(words[0]) if words else 1000
    given = [_of_root(Path(word)) if Path(word).is_dir() else [word] for word in words[1:]]
    commands = given or programs()
    found = 0
    for told in differences(count, 20261128, commands):
        found += 1
        sys.stdout.write(f"{told}\n")
    sys.stdout.write(f"{count} files, {len(commands)} programs, {found} differences\n")
    for command in commands:
        sys.stdout.write(f"  {command[-1]}\n")
    return 1 if found or not commands else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
