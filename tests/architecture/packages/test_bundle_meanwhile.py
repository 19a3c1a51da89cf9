"""The bundle is made beside the stages before its own; whatever goes wrong, its own stage still tells."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from boot import meanwhile
from boot.stages import STAGES, Stage, select

SELECTED = select(["static", "package"])[0]
MAKES = "import pathlib, sys; pathlib.Path(sys.argv[1], 'made').write_text('x'); print('made')"
WAITS = "import pathlib, sys, time; pathlib.Path(sys.argv[1], 'begun').write_text('x'); time.sleep(600)"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(meanwhile, "REPORTS", tmp_path)
    monkeypatch.delenv(meanwhile.PACKAGES, raising=False)
    return tmp_path


def begins(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(meanwhile, "COMMAND", (sys.executable, "-c", program))


def test_that_the_stage_gets_the_folder_of_the_bundle_while_it_lies_there(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    begins(monkeypatch, MAKES)
    with meanwhile.bundle(SELECTED) as bundle:
        (out,) = bundle().values()
        assert Path(out, "made").exists()
    assert not Path(out).exists()
    assert (folder / "bundle.log").read_text().strip() == "made"


def test_that_a_bundle_that_is_not_made_is_said_and_left_to_its_stage(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    begins(monkeypatch, "import sys; sys.exit('no PyInstaller here')")
    with meanwhile.bundle(SELECTED) as bundle:
        assert bundle() == {}
    said = capfd.readouterr().out
    assert "could not be made (exit code 1)" in said
    assert "no PyInstaller here" in said


def test_that_the_making_ends_with_the_run_that_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    begins(monkeypatch, WAITS)
    made: list[int] = []
    start = meanwhile.process.start

    def noted(*given: object, **named: object) -> object:
        child = start(*given, **named)  # type: ignore[arg-type]
        made.append(child.pid)
        return child

    monkeypatch.setattr(meanwhile.process, "start", noted)
    with pytest.raises(KeyboardInterrupt), meanwhile.bundle(SELECTED):
        raise KeyboardInterrupt
    with pytest.raises(ProcessLookupError):
        os.kill(made[0], 0)


@pytest.mark.parametrize("stages", [select(["package"])[0], select(["static"])[0], select(["package", "lab"])[0]])
def test_that_nothing_is_made_beside_where_no_stage_comes_before(
    monkeypatch: pytest.MonkeyPatch, stages: tuple[Stage, ...]
) -> None:
    begins(monkeypatch, "raise SystemExit")
    with meanwhile.bundle(stages) as bundle:
        assert bundle() == {}


def test_that_packages_that_are_there_already_are_the_ones_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(meanwhile.PACKAGES, "dist")
    with meanwhile.bundle(STAGES) as bundle:
        assert bundle() == {}
