"""What others read of the packages is what they take it for: workflow, menu entry, metainfo, the portable's script."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from boot.environment import MAIN

ROOT = Path(__file__).resolve().parents[3]
LINUX = ROOT / "packaging" / "linux"
WORKFLOW = ROOT / ".github" / "workflows" / "package.yml"


def _checked(file: Path) -> subprocess.CompletedProcess[str]:
    words = [MAIN.tool("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", str(file)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_that_the_workflow_is_one_by_githubs_schema() -> None:
    done = _checked(WORKFLOW)
    assert done.returncode == 0, done.stdout + done.stderr


def test_that_a_workflow_with_a_wrong_word_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(WORKFLOW.read_text(encoding="utf-8").replace("runs-on:", "runs_on:"), encoding="utf-8")
    assert _checked(wrong).returncode == 1


def test_that_the_workflow_builds_the_three_systems_and_names_no_verb_that_is_not_there() -> None:
    text = WORKFLOW.read_text(encoding="utf-8")
    assert {"ubuntu", "windows", "macos"} == set(re.findall(r"- system: (\w+)-", text))
    assert set(re.findall(r"bootstrap\.py (\w+)", text)) == {"package", "test"}


def test_that_the_workflow_pins_its_actions_and_gives_secrets_to_one_step_of_no_pull_request() -> None:
    text = WORKFLOW.read_text(encoding="utf-8")
    # GitHub, "Security hardening for GitHub Actions": a full commit is the one reference that cannot be moved.
    assert [line for line in re.findall(r"uses: (.*)", text) if not re.search(r"@[0-9a-f]{40} # v[\d.]+$", line)] == []
    assert text.count("actions/checkout") == text.count("persist-credentials: false")
    assert "pull_request" not in text
    assert re.findall(r"^permissions:\n  contents: read\n", text, re.MULTILINE)
    steps = re.split(r"\n      - ", text)
    assert [step.splitlines()[0] for step in steps if "secrets." in step] == ["name: Build"]
    assert re.findall(r"run:.*\$\{\{", text) == []


@pytest.mark.skipif(shutil.which("desktop-file-validate") is None, reason="desktop-file-validate is not there")
def test_that_the_menu_entry_is_valid() -> None:
    words = ["desktop-file-validate", "--warn-kde", str(LINUX / "pilothouse.desktop")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.skipif(shutil.which("appstreamcli") is None, reason="appstreamcli is not there")
def test_that_the_metainfo_is_valid(tmp_path: Path) -> None:
    text = (LINUX / "pilothouse.metainfo.xml").read_text(encoding="utf-8").replace("@VERSION@", "1.0.0")
    text = text.replace("@DATE@", "2026-11-30").replace("@STABILITY@", "stable")
    file = tmp_path / "io.pilothouse.Pilothouse.metainfo.xml"
    file.write_text(text, encoding="utf-8")
    words = ["appstreamcli", "validate", "--no-net", "--explain", str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# -- the portable's script ---------------------------------------------------------------------------------------------


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """An unpacked portable whose program tells its arguments, in a folder whose name has every odd character."""
    folder = tmp_path / 'odd $HOME "x" `id` \\ 100% & | name'
    (folder / "share" / "applications").mkdir(parents=True)
    (folder / "share" / "man" / "man1").mkdir(parents=True)
    (folder / "share" / "man" / "man1" / "pilothouse.1.gz").write_bytes(b"page")
    shutil.copy(LINUX / "pilothouse.desktop", folder / "share" / "applications")
    shutil.copy(LINUX / "menu.sh", folder)
    (folder / "pilothouse").write_text('#!/bin/sh\necho started "$@"\n', encoding="utf-8")
    (folder / "pilothouse").chmod(0o755)
    return folder


def _menu(folder: Path, word: str, home: Path) -> subprocess.CompletedProcess[str]:
    settings = {"HOME": str(home), "PATH": os.defpath}
    return subprocess.run([folder / "menu.sh", word], capture_output=True, text=True, env=settings, check=False)


def _all(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_that_the_portable_is_added_to_a_menu_and_taken_out_without_a_trace(unpacked: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    assert _menu(unpacked, "add", home).returncode == 0
    assert _menu(unpacked, "add", home).returncode == 0  # an update
    entry = home / ".local" / "share" / "applications" / "pilothouse.desktop"
    assert "TryExec" not in entry.read_text(encoding="utf-8")
    started = subprocess.run([home / ".local" / "bin" / "pilothouse", "x"], capture_output=True, text=True, check=True)
    assert started.stdout == "started x\n"
    kept = home / ".local" / "share" / "pilothouse" / "state.sqlite"
    kept.parent.mkdir()
    kept.write_bytes(b"a person's")
    assert _menu(unpacked, "remove", home).returncode == 0
    assert _all(home) == {".local", ".local/share", ".local/share/pilothouse", ".local/share/pilothouse/state.sqlite"}


@pytest.mark.skipif(shutil.which("gio") is None, reason="gio, which starts menu entries, is not there")
def test_that_the_menus_entry_starts_a_program_whose_path_has_every_odd_character(
    unpacked: Path, tmp_path: Path
) -> None:
    home = tmp_path / 'home "x" $HOME `id` \\ & | of one'
    home.mkdir()
    (unpacked / "pilothouse").write_text(f"#!/bin/sh\necho started \"$@\" > '{tmp_path}/told'\n", encoding="utf-8")
    assert _menu(unpacked, "add", home).returncode == 0
    entry = home / ".local" / "share" / "applications" / "pilothouse.desktop"
    subprocess.run(["gio", "launch", str(entry)], check=True, timeout=30)
    words = tmp_path / "told"
    for _ in range(200):
        if words.exists() and words.read_text(encoding="utf-8"):
            break
        time.sleep(0.05)
    assert words.read_text(encoding="utf-8") == "started\n"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_that_another_program_of_that_name_is_left_as_it_is(unpacked: Path, tmp_path: Path) -> None:
    theirs = tmp_path / ".local" / "bin" / "pilothouse"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("theirs", encoding="utf-8")
    done = _menu(unpacked, "add", tmp_path)
    assert done.returncode == 1
    assert "is another program" in done.stderr
    assert theirs.read_text(encoding="utf-8") == "theirs"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_that_the_command_which_pipx_linked_is_neither_replaced_nor_removed(unpacked: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "venvs" / "pilothouse"
    theirs.parent.mkdir()
    theirs.write_text("theirs", encoding="utf-8")
    link = tmp_path / ".local" / "bin" / "pilothouse"
    link.parent.mkdir(parents=True)
    link.symlink_to(theirs)
    assert _menu(unpacked, "add", tmp_path).returncode == 1
    assert _menu(unpacked, "remove", tmp_path).returncode == 0
    assert link.readlink() == theirs


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_that_an_older_copys_remove_leaves_the_newer_ones_menu(unpacked: Path, tmp_path: Path) -> None:
    newer, home = tmp_path / "newer", tmp_path / "home"
    shutil.copytree(unpacked, newer)
    home.mkdir()
    for folder in (unpacked, newer):
        assert _menu(folder, "add", home).returncode == 0
    before = _all(home)
    done = _menu(unpacked, "remove", home)
    assert (done.returncode, _all(home)) == (0, before)
    assert "another copy's" in done.stdout
    shutil.rmtree(newer)  # its link leads nowhere now, and is nobody's
    assert _menu(unpacked, "remove", home).returncode == 0
    assert _all(home) == {".local", ".local/share"}


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_that_no_link_in_the_place_of_a_file_is_written_through(unpacked: Path, tmp_path: Path) -> None:
    home, kept = tmp_path / "home", tmp_path / "kept"
    kept.write_text("kept", encoding="utf-8")
    data = home / ".local" / "share"
    for place in ("applications/pilothouse.desktop", "man/man1/pilothouse.1.gz"):
        (data / place).parent.mkdir(parents=True)
        (data / place).symlink_to(kept)
    assert _menu(unpacked, "add", home).returncode == 0
    assert kept.read_text(encoding="utf-8") == "kept"
    assert not [path for path in data.rglob("*") if path.is_symlink()]


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_that_odd_variables_lead_the_script_nowhere_else(unpacked: Path, tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    shutil.copytree(unpacked, elsewhere / "name")
    shutil.copytree(unpacked, tmp_path / "name")
    before = _all(tmp_path / "name")
    settings = {"HOME": str(home), "PATH": os.defpath, "XDG_DATA_HOME": "data", "CDPATH": str(elsewhere)}
    words = ["sh", "-c", "umask 000; sh name/menu.sh add"]
    subprocess.run(words, cwd=tmp_path, env=settings, check=True, capture_output=True)
    assert (home / ".local" / "bin" / "pilothouse").readlink() == tmp_path / "name" / "pilothouse"
    assert _all(tmp_path / "name") == before
    assert [path for path in home.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o022] == []


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
@pytest.mark.parametrize("home", ["", "relative"])
def test_that_without_a_home_of_its_own_a_login_gets_a_sentence(unpacked: Path, home: str) -> None:
    settings = {"HOME": home, "PATH": os.defpath}
    done = subprocess.run([unpacked / "menu.sh", "add"], capture_output=True, text=True, env=settings, check=False)
    assert (done.returncode, done.stderr) == (2, "menu.sh: HOME is not the absolute path of a folder\n")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="needs root, to give a folder away")
def test_that_root_writes_nothing_into_the_home_of_another_login(unpacked: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 1500, 1500)
    done = _menu(unpacked, "add", home)
    assert (done.returncode, _all(home)) == (2, set())
    assert "another login's" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_that_a_folder_which_was_moved_is_added_and_removed_again(unpacked: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    assert _menu(unpacked, "add", home).returncode == 0
    moved = unpacked.rename(tmp_path / "moved")
    assert _menu(moved, "add", home).returncode == 0
    assert (home / ".local" / "bin" / "pilothouse").readlink() == moved / "pilothouse"
    moved = moved.rename(tmp_path / "moved again")
    assert _menu(moved, "remove", home).returncode == 0
    assert not (home / ".local" / "bin").exists()


# -- the page that tells how it is installed ---------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_that_the_portables_lines_run_as_written_in_a_home_that_is_empty(unpacked: Path, tmp_path: Path) -> None:
    page = (ROOT / "resources" / "docs" / "install.md").read_text(encoding="utf-8")
    first, last = (
        next(line for line in page.splitlines() if word in line) for word in ("menu.sh add", "menu.sh remove &&")
    )
    home, given = tmp_path / "home", tmp_path / "given"
    home.mkdir()
    given.mkdir()
    words = [
        "tar",
        "-cJf",
        str(given / "pilothouse-VERSION-linux-x86_64.tar.xz"),
        "--transform",
        "s,^[.],pilothouse-VERSION,",
    ]
    subprocess.run([*words, "-C", str(unpacked), "."], check=True)
    settings = {"HOME": str(home), "PATH": os.defpath}
    subprocess.run(["sh", "-ec", first], cwd=given, env=settings, check=True, capture_output=True)
    assert (home / ".local" / "bin" / "pilothouse").exists()
    subprocess.run(["sh", "-ec", last], cwd=given, env=settings, check=True, capture_output=True)
    assert [path for path in home.rglob("*") if not path.is_dir()] == []


# -- what the bundle's program starts ----------------------------------------------------------------------------------

BUNDLES = {"LD_LIBRARY_PATH": "/bundle", "_PYI_APPLICATION_HOME_DIR": "/bundle"}
STARTED = """\
import json, os, runpy, sys, types
program = types.ModuleType("app.__main__")
program.main = lambda: print(json.dumps(dict(os.environ)))
sys.modules |= {"app": types.ModuleType("app"), "app.__main__": program}
os.environ.update(json.loads(sys.argv[2]))
runpy.run_path(sys.argv[1] + "/launch.py")
"""


@pytest.mark.parametrize("given", [{}, {"LD_LIBRARY_PATH": "/theirs", "QT_PLUGIN_PATH": "/theirs"}])
def test_that_no_folder_of_the_bundle_reaches_what_its_program_starts(given: dict[str, str]) -> None:
    saved = {f"{name}_ORIG": value for name, value in given.items() if name in BUNDLES}  # the starter does so
    words = [sys.executable, "-c", STARTED, str(ROOT / "packaging" / "pack"), json.dumps({**BUNDLES, **saved})]
    kept = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    done = subprocess.run(words, capture_output=True, text=True, env={**kept, **given}, check=True)
    names = (*BUNDLES, "QT_PLUGIN_PATH")
    seen = {name: value for name, value in json.loads(done.stdout).items() if name.startswith(names)}
    assert seen == given
