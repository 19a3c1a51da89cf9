"""The portable .tar.xz and the .deb. Neither has a script of its own that runs as root, a service, or a download."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

from boot.places import BootError, say
from pack.archive import pack_folder
from pack.bundle import elves
from pack.made import NAME, Made, call, epoch
from pack.system_libraries import system_packages

HOME = Path("usr/lib") / NAME
"""The bundle's folder in the .deb."""
RECOMMENDED = ("openssh-client", "fonts-inter", "fonts-jetbrains-mono")
"""~/.ssh/config is read by OpenSSH itself; the two typefaces of the design (resources/docs/adr/0060, look)."""
LOADED_BY_NAME = ("xkb-data",)
"""Files that a bundled library opens: the keyboards that libxkbcommon reads. No ELF header names them."""
MAINTAINER = "The Pilothouse developers <pilothouse@localhost>"


def portable(made: Made) -> None:
    """Pack the bundle with what a desktop reads, and the script that adds it to a login's menu."""
    folder = made.work / "portable"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(made.bundle, folder, symlinks=True)
    shutil.copytree(made.share, folder / "share", ignore=_other_systems)
    shutil.copy(made.tree / "packaging" / "linux" / "menu.sh", folder)
    file = made.out / f"{made.name}.tar.xz"
    say(f"packing {file.name}")
    pack_folder(folder, file, f"{NAME}-{made.version}")


def deb(made: Made) -> None:
    """Pack the same for Debian and its children (Debian Policy, chapters 3, 5, 9 and 12)."""
    if shutil.which("dpkg-deb") is None:
        say("no .deb is built: dpkg-deb is missing")
        return
    root = made.work / "deb"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(made.bundle, root / HOME, symlinks=True)
    shutil.copytree(made.share, root / "usr/share", ignore=_other_systems)
    (root / "usr/bin").mkdir()
    (root / "usr/bin" / NAME).symlink_to(f"../lib/{NAME}/{NAME}")
    _to_debians_places(made, root)
    architecture = call(["dpkg", "--print-architecture"], made.work).strip()
    size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    control = root / "DEBIAN" / "control"
    control.parent.mkdir()
    fields = {
        "Package": NAME,
        "Version": made.version,
        "Architecture": architecture,
        "Maintainer": MAINTAINER,
        "Installed-Size": str(-(-size // 1024)),
        "Depends": ", ".join((_needed_libraries(made, root), *LOADED_BY_NAME)),
        "Recommends": ", ".join(RECOMMENDED),
        "Section": "database",
        "Priority": "optional",
        "Description": _DESCRIPTION,
    }
    control.write_text("".join(f"{name}: {value}\n" for name, value in fields.items()), encoding="utf-8")
    (control.parent / "md5sums").write_text(_md5sums(root), encoding="utf-8")
    _plain(root)
    file = made.out / f"{NAME}_{made.version}_{architecture}.deb"
    say(f"packing {file.name}")
    call(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, file], made.work)


_DESCRIPTION = """\
console that watches and steers database clusters
 Pilothouse finds the members of Galera, replication, Group Replication and
 MongoDB clusters over SSH and SQL, draws them live, plots what explains them
 one sample a second, and leads through guided procedures. Nothing is installed
 on the servers. The package holds its own Python and Qt."""


def _to_debians_places(made: Made, root: Path) -> None:
    """Move what lies elsewhere in Debian: zsh's functions, the licences."""
    share = root / "usr/share"
    (share / "zsh" / "site-functions").rename(share / "zsh" / "vendor-completions")
    documents = share / "doc" / NAME
    documents.mkdir(parents=True)
    shutil.copyfile(made.licences, documents / "copyright")
    (root / HOME / "_internal" / "licences.txt").unlink()
    day = format_datetime(datetime.fromtimestamp(epoch(), UTC))
    entry = f"{NAME} ({made.version}) unstable; urgency=medium\n\n  * Made of commit {made.commit or 'unknown'}.\n\n"
    change = f"{entry} -- {MAINTAINER}  {day}\n"
    (documents / "changelog.gz").write_bytes(gzip.compress(change.encode(), 9, mtime=0))


def _md5sums(root: Path) -> str:
    """Return what `dpkg --verify` compares with, in deb-md5sums(5)'s format."""
    files = sorted(path for path in (root / "usr").rglob("*") if path.is_file() and not path.is_symlink())
    sums = [(hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest(), path) for path in files]
    return "".join(f"{digest}  {path.relative_to(root).as_posix()}\n" for digest, path in sums)


def _needed_libraries(made: Made, root: Path) -> str:
    """Return the packages whose libraries the bundle loads and does not hold, as dpkg-shlibdeps finds them."""
    if shutil.which("dpkg-shlibdeps") is None:
        raise BootError("which packages the .deb needs is not known: apt-get install dpkg-dev")
    work = made.work / "shlibdeps"
    (work / "debian").mkdir(parents=True, exist_ok=True)
    (work / "debian" / "control").write_text(
        f"Source: {NAME}\n\nPackage: {NAME}\nArchitecture: any\n", encoding="ascii"
    )
    loaded = elves(root / HOME)
    places = sorted({path.parent for path in loaded})
    words = ["dpkg-shlibdeps", "-O", "--ignore-missing-info", "--warnings=0", *(f"-l{place}" for place in places)]
    words += [f"-x{one.name}" for one in system_packages(made)]  # what the bundle itself has
    said = call([*words, *(f"-e{path}" for path in loaded)], work)
    found = re.search(r"^shlibs:Depends=(.*)$", said, re.MULTILINE)
    if found is None:
        raise BootError("dpkg-shlibdeps named no packages")
    return found[1]


def _plain(root: Path) -> None:
    """Give every file the modes of a package, and the time of the commit."""
    for path in [root, *root.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        os.utime(path, (epoch(), epoch()), follow_symlinks=False)


def _other_systems(_folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name.endswith((".ico", ".icns"))]
