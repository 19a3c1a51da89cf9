"""Each package of Linux in bare Debian 12 and 13: in, started from the menu, both demos, a real host, out, no trace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from boot.places import ROOT
from services.workstation.own_version import own_version
from tests.lab.estate.estate import Estate
from tests.lab.package.bare_root import HOME, BareRoot, bare_root

pytestmark = pytest.mark.long
RELEASES = ("bookworm", "trixie")
ENTRIES = "/usr/share/applications /home/dba/.local/share/applications"
PERSONS = (f"{HOME}/.local/share/pilothouse", f"{HOME}/.config/pilothouse")
"""What stays: the person's own."""
CACHES = (f"{HOME}/.cache", f"{HOME}/.local/state", f"{HOME}/.dbus", f"{HOME}/.Xauthority", f"{HOME}/.config/dconf")
"""What pip, the X server and others keep for themselves."""
TOOLS = (
    f"{HOME}/.local/bin",
    f"{HOME}/.local/share/man",
    f"{HOME}/.local/pipx",
    f"{HOME}/.local/share/pipx",
    f"{HOME}/.local/share/uv",
)
"""What pipx and uv keep for all programs: nothing of this one."""
WINDOW = """\
export DISPLAY=:{display} XDG_RUNTIME_DIR=$HOME/run; mkdir -p -m 700 $HOME/run
Xvfb :{display} -screen 0 1280x800x24 -nolisten tcp >/dev/null 2>&1 & x=$!
trap 'kill $x 2>/dev/null || :; rm -rf $HOME/run' EXIT
for n in $(seq 100); do xdpyinfo >/dev/null 2>&1 && break; sleep 0.1; done
entry=$(find {entries} -name pilothouse.desktop 2>/dev/null | head -1 || :)
gio launch "$entry"
for n in $(seq 300); do xwininfo -root -tree | grep -q 'Pilothouse' && break; sleep 0.1; done
xwininfo -root -tree | grep Pilothouse
pkill -x pilothouse || :
"""


@dataclass(frozen=True, slots=True)
class Way:
    """A way in and out: scripts for root or the person, and the command that starts the program."""

    name: str
    packed: str
    into: str
    out: str
    program: str
    by: str = "1500:1500"
    in_menu: bool = True


WAYS = (
    Way("deb", "*.deb", "apt-get update -qq; apt-get install -y -qq --no-install-recommends /packed/*.deb",
        "apt-get purge -y -qq pilothouse", "pilothouse", by="root"),
    Way("portable", "*.tar.xz", f"mkdir -p {HOME}/.local/lib && tar -xf /packed/*.tar.xz -C {HOME}/.local/lib && "
        f"{HOME}/.local/lib/pilothouse-*/menu.sh add",
        f"{HOME}/.local/lib/pilothouse-*/menu.sh remove && rm -r {HOME}/.local/lib/pilothouse-* && "
        f"rmdir {HOME}/.local/lib",
        f"{HOME}/.local/bin/pilothouse"),
    Way("pipx", "*.whl", "pipx install /packed/*.whl", "pipx uninstall pilothouse",
        f"{HOME}/.local/bin/pilothouse", in_menu=False),
    Way("uv", "*.whl", f"python3 -m venv {HOME}/uv && {HOME}/uv/bin/pip install --quiet uv && "
        f"{HOME}/uv/bin/uv tool install --quiet --native-tls /packed/*.whl",
        f"{HOME}/uv/bin/uv tool uninstall pilothouse && rm -r {HOME}/uv",
        f"{HOME}/.local/bin/pilothouse", in_menu=False),
)  # fmt: skip


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the packages; PILOTHOUSE_PACKAGES names one that was made of this tree a moment ago."""
    if made := os.environ.get("PILOTHOUSE_PACKAGES"):
        return Path(made).absolute()
    out = tmp_path_factory.mktemp("packed")
    words = [sys.executable, str(ROOT / "packaging" / "bootstrap.py"), "package", "--out", str(out)]
    subprocess.run(words, cwd=ROOT, check=True, timeout=2400)
    return out


@pytest.fixture(params=RELEASES)
def root(request: pytest.FixtureRequest, lab_available: None, tmp_path: Path) -> Iterator[BareRoot]:
    """A bare root of Debian 12, and of Debian 13."""
    with bare_root(request.param, tmp_path) as lent:
        yield lent


def _inventory(root: BareRoot, estate: Estate) -> None:
    """Bring the client folder of an estate, as a person has one: inventory, key, known hosts."""
    for path in estate.client_dir.iterdir():
        if path.is_file():
            root.brings(path, f"{HOME}/client/{path.name}")
    text = (estate.client_dir / "inventory-all.toml").read_text(encoding="utf-8")
    (root.folder / HOME[1:] / "client" / "inventory-all.toml").write_text(
        text.replace(str(estate.client_dir), f"{HOME}/client"), encoding="utf-8"
    )
    root.sh(f"chown -R dba: {HOME}/client; chmod 600 {HOME}/client/*")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_that_a_package_is_installed_used_and_removed_without_a_trace(
    root: BareRoot, galera: Estate, packed: Path, way: Way
) -> None:
    (file,) = packed.glob(way.packed)
    root.brings(file, f"/packed/{file.name}")
    _inventory(root, galera)
    before = root.files()
    root.sh(way.into, login=way.by, limit_s=1500)

    output = root.sh(f"{way.program} --version", login="1500:1500").out
    assert output.startswith(f"pilothouse {own_version()} (commit ")
    assert output.endswith("bundle)\n" if way.in_menu else "environment)\n")
    for story in ("incident", "conversion"):
        drawn = f"{HOME}/drawn-{story}"
        root.sh(f"{way.program} demo {story} --screenshots {drawn}", login="1500:1500")
        names = root.sh(f"ls {drawn}; rm -r {drawn}", login="1500:1500").out
        assert "topology" in names
        assert "charts" in names
    if way.in_menu:
        display = 90 + RELEASES.index(root.folder.name)
        seen = root.sh(WINDOW.format(display=display, entries=ENTRIES), login="1500:1500", limit_s=120).out
        assert "Pilothouse" in seen
    asked = f"{way.program} topology --json --inventory {HOME}/client/inventory-all.toml"
    answer = root.sh(asked, login="1500:1500", limit_s=120)
    (cluster,) = json.loads(answer.out)["clusters"]
    assert {node["name"] for node in cluster["nodes"]} >= {"n1", "n2", "n3"}

    root.sh(way.out, login=way.by)
    new = root.files() - before
    tools = {path for path in new if path.startswith(TOOLS) and "pilothouse" not in path}
    folders = {str(parent) for place in (*PERSONS, *CACHES, *TOOLS) for parent in Path(place).parents}
    assert {path for path in new if not path.startswith((*PERSONS, *CACHES))} - folders - tools == set()
    assert before - root.files() == set()
    assert root.sh(f"ls {HOME}/.local/share/pilothouse").out.split()


@pytest.mark.timeout(1800)
def test_that_the_manual_page_and_the_completions_are_read_by_their_programs(root: BareRoot, packed: Path) -> None:
    (file,) = packed.glob("*.deb")
    root.brings(file, f"/packed/{file.name}")
    more = "man-db groff bash-completion fish zsh"
    root.sh(f"apt-get update -qq; apt-get install -y -qq --no-install-recommends /packed/*.deb {more}", limit_s=900)
    page = root.sh("MANWIDTH=100 man --warnings pilothouse | col -b 2>/dev/null || man --warnings pilothouse").out
    assert "rolling" not in page.split("NAME")[0]
    assert "Exit codes: 0 good" in " ".join(page.split())
    fish = root.sh("fish -c 'complete -C \"pilothouse top\"'").out
    assert "topology" in fish
    bash = root.sh(
        "source /usr/share/bash-completion/bash_completion; source /usr/share/bash-completion/completions/pilothouse; "
        "COMP_WORDS=(pilothouse pro); COMP_CWORD=1; COMP_LINE='pilothouse pro'; COMP_POINT=14; "
        "_shtab_pilothouse pilothouse pro pilothouse; printf '%s\\n' \"${COMPREPLY[@]}\""
    ).out
    assert "procedures" in bash
    root.sh("zsh -c 'autoload -Uz compinit; compinit -u -d /tmp/dump; whence -w _pilothouse' | grep -q function")
