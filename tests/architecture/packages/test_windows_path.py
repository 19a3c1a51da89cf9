"""What the setup program for Windows does to PATH: its own functions, compiled by a Pascal of this machine."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "packaging" / "windows" / "pilothouse.iss"
OWN = "C:\\Program Files\\Pilothouse"
PROGRAM = """\
{{$mode objfpc}}{{$H+}}
program tried;
uses SysUtils;
function RemoveBackslashUnlessRoot(S: String): String;
begin
  Result := S;
  if (Length(S) > 3) and (S[Length(S)] = '\\') then SetLength(Result, Length(S) - 1);
end;
{functions}
begin
  if ParamStr(1) = 'with' then Write(WithOwn(ParamStr(2), ParamStr(3)))
  else Write(Without(ParamStr(2), ParamStr(3)));
end.
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of the functions that edit PATH."""
    if shutil.which("fpc") is None:
        pytest.skip("fpc, a compiler of Pascal, is not there")
    found = re.search(r"\{ Pure functions.*?\{ End of the pure functions\. \}", SCRIPT.read_text("utf-8"), re.DOTALL)
    assert found is not None
    folder = tmp_path_factory.mktemp("pascal")
    (folder / "tried.pas").write_text(PROGRAM.format(functions=found[0]), encoding="ascii")
    subprocess.run(["fpc", "-v0", "tried.pas"], cwd=folder, check=True, capture_output=True)
    return folder / "tried"


def _edited(program: Path, word: str, path: str) -> str:
    return subprocess.run([program, word, path, OWN], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"C:\\a;{OWN}", "C:\\a"),
        (f"{OWN};C:\\a", "C:\\a"),
        (f"C:\\a;{OWN.lower()}\\;C:\\b", "C:\\a;C:\\b"),
        (f"C:\\a;{OWN}X;C:\\b", f"C:\\a;{OWN}X;C:\\b"),
        (f"C:\\a;{OWN}\\bin;{OWN};", f"C:\\a;{OWN}\\bin;"),
        (f"{OWN}", ""),
        ("", ""),
        ("%SystemRoot%;;C:\\a;", "%SystemRoot%;;C:\\a;"),
    ],
)
def test_that_removing_takes_whole_entries_of_ours_and_no_byte_of_others(
    compiled: Path, before: str, after: str
) -> None:
    assert _edited(compiled, "without", before) == after


@pytest.mark.parametrize("before", ["", "C:\\a", "C:\\a;", "%SystemRoot%;C:\\a"])
def test_that_adding_puts_one_entry_last_and_removing_gives_the_same_places_back(compiled: Path, before: str) -> None:
    added = _edited(compiled, "with", before)
    assert added == (f"{before.removesuffix(';')};{OWN}" if before else OWN)
    assert _edited(compiled, "without", added) == before.removesuffix(";")


def test_that_no_other_place_of_the_script_edits_the_path() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    assert "{olddata}" not in text
    assert text.count("RegWrite") == 1
