"""The command line: arguments, exit codes, words for people and JSON for machines. No server is contacted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import ArgumentTypeError
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.__main__ import main
from app.cli.arguments import BAD_INPUT, _seconds, _size, build_parser
from app.cli.commands import inventory as inventory_command
from services.i18n import install
from services.inventory.toml_file import load_inventory
from services.secrets import MemoryVault, SecretRef

HOST = '[[host]]\nname = "db1"\naddress = "10.20.0.11"\n[host.ssh]\nuser = "dba"\n[host.sql]\nuser = "monitor"\n'
INVENTORY = f'version = 1\n[[cluster]]\nname = "orders"\nseeds = ["db1"]\n{HOST}'


@pytest.fixture(autouse=True)
def private_log() -> Iterator[None]:
    """The program sets up the root log; a test's log handlers must stay as they were."""
    import logging

    root, paramiko = logging.getLogger(), logging.getLogger("paramiko")
    handlers, level, quiet = list(root.handlers), root.level, paramiko.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    paramiko.setLevel(quiet)


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    path = tmp_path / "inventory.toml"
    path.write_text(INVENTORY)
    return path


def said(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    out = capsys.readouterr()
    return out.out, out.err


# --- arguments ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("0.5", 0.5), ("5m", 300), ("2h", 7200), ("1d", 86400)])
def test_that_a_time_is_read_with_its_unit(text: str, seconds: float) -> None:
    assert _seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "5 min", "-3", "0", "nan", "inf", "400d"])
def test_that_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError):
        _seconds(text)


@pytest.mark.parametrize("text", ["1280", "1280x", "x800", "axb", "100x100", "99999x800"])
def test_that_what_is_no_window_size_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError):
        _size(text)


def test_that_a_window_size_is_width_by_height() -> None:
    assert _size("1280x800") == (1280, 800)


def test_that_common_options_may_stand_before_and_after_the_command() -> None:
    parser = build_parser()
    before = parser.parse_args(["--inventory", "a.toml", "topology"])
    after = parser.parse_args(["topology", "--inventory", "a.toml"])
    assert before.inventory == after.inventory == Path("a.toml")


@pytest.mark.parametrize("words", [["fly"], ["sample", "--for", "soon"], ["replay"], ["record"], ["--theme", "pink"]])
def test_that_bad_arguments_end_with_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert "usage:" in said(capsys)[1]


def test_that_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert said(capsys)[0].startswith("pilothouse ")


# --- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["topology"], ["check"], ["sample"], ["inventory"], ["inventory", "check"]])
def test_that_without_an_inventory_a_command_tells_what_to_try(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--inventory", str(tmp_path / "none.toml"), "--data", str(tmp_path)]) == 2
    out, err = said(capsys)
    assert out == ""
    assert "There is no inventory at" in err
    assert "Nothing was changed." in err
    assert "Try: " in err


@pytest.mark.parametrize("command", ["topology", "check", "sample", "inventory"])
def test_that_an_error_for_machines_is_one_json_document(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--json", "--inventory", str(tmp_path / "none.toml"), "--data", str(tmp_path)]) == 2
    out, err = said(capsys)
    assert err == ""
    document = json.loads(out)
    assert set(document) == {"error", "sentence", "host", "safe", "try"}
    assert document["error"] == "bad-input"


def test_that_a_seed_that_is_not_there_is_named(inventory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topology", "--seed", "db9", "--inventory", str(inventory)]) == 2
    assert "no host named db9" in said(capsys)[1]


def test_that_an_inventory_without_hosts_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "inventory.toml"
    path.write_text("version = 1\n")
    assert main(["topology", "--inventory", str(path)]) == 2
    assert "contains no hosts" in said(capsys)[1]


def test_that_a_broken_inventory_names_its_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "inventory.toml"
    path.write_text("version = 1\n[[host]]\nnme = 3\n")
    assert main(["inventory", "--inventory", str(path)]) == 2
    assert "line 3" in said(capsys)[1]


def test_that_a_data_folder_that_cannot_be_made_is_told(
    inventory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["sample", "--inventory", str(inventory), "--data", str(tmp_path / "file" / "below")]) == 2
    assert "cannot be created" in said(capsys)[1]


# --- inventory ----------------------------------------------------------------------------------------------------


def test_that_the_inventory_is_shown_without_secrets(inventory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inventory.write_text(INVENTORY + 'password = "env:DB_PASSWORD"\n')
    assert main(["inventory", "--inventory", str(inventory)]) == 0
    out, _ = said(capsys)
    assert "db1" in out
    assert "ssh dba sudo none; sql monitor@3306" in out
    assert "cluster orders: seeds db1" in out
    assert "DB_PASSWORD" not in out


def test_that_the_inventory_is_shown_as_json(inventory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inventory", "show", "--json", "--inventory", str(inventory)]) == 0
    document = json.loads(said(capsys)[0])
    assert document["hosts"][0]["name"] == "db1"
    assert document["clusters"] == [{"name": "orders", "seeds": ["db1"], "expected": None, "networks": []}]


def test_that_an_import_of_a_file_that_is_not_there_is_no_success_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "inventory.toml"
    words = ["inventory", "import", "--from", "mycnf", "--file", str(tmp_path / "none"), "--inventory", str(path)]
    for write in ([], ["--write"]):
        assert main([*words, *write]) == 1
        told = said(capsys)[0]
        assert "No such file or directory" in told
        assert "Add --write" not in told
        assert not path.exists()


def test_that_an_import_is_a_preview_until_it_is_told_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, path = tmp_path / "config", tmp_path / "conf" / "inventory.toml"
    config.write_text("Host db1\n  HostName 10.20.0.11\n  User dba\n")
    words = ["inventory", "import", "--from", "ssh", "--file", str(config), "--inventory", str(path)]
    assert main(words) == 0
    assert "Nothing was written. Add --write" in said(capsys)[0]
    assert not path.exists()
    assert main([*words, "--write"]) == 0
    assert load_inventory(path).hosts[0].name == "db1"


def test_that_an_import_leaves_a_host_of_another_mind_as_it_is(
    inventory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config"
    config.write_text("Host db1\n  HostName 10.20.0.99\n  User other\n")
    words = ["inventory", "import", "--from", "ssh", "--file", str(config), "--inventory", str(inventory), "--write"]
    assert main(words) == 0
    assert "db1: already in the inventory with different values" in said(capsys)[0]
    assert load_inventory(inventory).hosts[0].address == "10.20.0.11"


def test_that_one_host_that_looks_like_another_does_not_keep_the_rest_of_an_import_out(
    inventory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config"
    config.write_text("Host DB1 db7\n")
    words = ["inventory", "import", "--from", "ssh", "--file", str(config), "--inventory", str(inventory), "--write"]
    assert main([*words, "--json"]) == 0
    document = json.loads(said(capsys)[0])
    assert document["added"] == ["db7"]
    assert document["problems"][0].startswith('"DB1" is left out: the host names "db1" and "DB1" look alike')
    config.write_text("Host DB1 db8\n")
    assert main(words) == 0
    assert '  problem: "DB1" is left out: ' in said(capsys)[0]
    assert [host.name for host in load_inventory(inventory).hosts][-2:] == ["db7", "db8"]


def test_that_an_import_leaves_the_password_of_a_host_that_it_leaves_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = SecretRef("keyring", "u@db1:3306"), SecretRef("keyring", "u@db2:3306")
    vault = MemoryVault({str(old): "of today"})
    monkeypatch.setattr(inventory_command, "SystemVault", lambda: vault)
    path, options = tmp_path / "inventory.toml", tmp_path / "my.cnf"
    host = '[[host]]\nname = "db1"\naddress = "db1"\n[host.sql]\nuser = "u"\npassword = "keyring:u@db1:3306"\n'
    path.write_text(f'version = 1\n{host}tls = "required"\n')
    options.write_text("[client]\nuser=u\npassword=of-last-year\nhost=db1\n[clientdb2]\nhost=db2\n")
    words = ["inventory", "import", "--from", "mycnf", "--file", str(options), "--inventory", str(path), "--write"]
    assert main(words) == 0
    told = said(capsys)[0]
    assert "db1: already in the inventory with different values" in told
    assert "The password for keyring:u@db1:3306 was not kept: its host is not imported" in told
    assert (vault.get(old).reveal(), vault.get(new).reveal()) == ("of today", "of-last-year")


def test_that_an_import_with_json_is_one_document_with_and_without_writing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, path = tmp_path / "config", tmp_path / "inventory.toml"
    config.write_text("Host db1\n  HostName 10.20.0.11\n  User dba\n")
    words = ["inventory", "import", "--json", "--from", "ssh", "--file", str(config), "--inventory", str(path)]
    for write, written in (([], False), (["--write"], True), (["--write"], False)):
        assert main([*words, *write]) == 0
        document = json.loads(said(capsys)[0])
        assert (document["written"], document["inventory"]) == (written, str(path))
        assert [host["name"] for host in document["hosts"]] == ["db1"]
        assert (document["added"], document["unchanged"]) == (["db1"], []) if write == [] or written else ([], ["db1"])
    other = tmp_path / "other"
    other.write_text("Host db1\n  HostName 10.20.0.99\n")
    assert main([str(other) if word == str(config) else word for word in words]) == 0
    assert json.loads(said(capsys)[0])["conflicts"] == ["db1"]


@pytest.mark.parametrize("origin", ["ssh", "mycnf", "workbench"])
def test_that_an_import_that_found_no_file_says_so_in_its_document(
    origin: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["inventory", "import", "--json", "--from", origin, "--file", str(tmp_path / "none")]
    assert main([*words, "--inventory", str(tmp_path / "i.toml")]) == 1
    document = json.loads(said(capsys)[0])
    assert (document["hosts"], len(document["problems"]), document["written"]) == ([], 1, False)
    assert main(["inventory", "import", "--json", "--inventory", str(tmp_path / "i.toml")]) == 2
    assert json.loads(said(capsys)[0])["error"] == "bad-input"


def test_that_an_import_from_nowhere_asks_for_its_origin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inventory", "import", "--inventory", str(tmp_path / "i.toml")]) == 2
    assert "--from ssh" in said(capsys)[1]


# --- recordings ---------------------------------------------------------------------------------------------------


def test_that_a_recording_overwrites_nothing(
    inventory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "mine.pilothouse"
    target.write_text("mine")
    assert main(["record", str(target), "--for", "1", "--inventory", str(inventory)]) == 2
    assert "exists already" in said(capsys)[1]
    assert target.read_text() == "mine"


def test_that_a_recording_into_a_missing_folder_is_refused(
    inventory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["record", str(tmp_path / "no" / "x.pilothouse"), "--for", "1", "--inventory", str(inventory)]) == 2
    assert "does not exist" in said(capsys)[1]


@pytest.mark.parametrize("as_json", [False, True])
def test_that_a_missing_recording_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    assert main(["replay", str(tmp_path / "none.pilothouse"), *(["--json"] if as_json else [])]) == 2
    assert "There is no recording at" in "".join(said(capsys))


def test_that_a_file_that_is_no_recording_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "letter.pilothouse"
    path.write_text("Dear reader")
    assert main(["replay", str(path), "--json"]) == 1
    document = json.loads(said(capsys)[0])
    assert document["error"] == "store-error"


def test_that_an_unknown_metric_is_refused_before_anything_is_watched(
    inventory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["sample", "--metric", "no such thing!", "--inventory", str(inventory), "--data", str(tmp_path / "d")]
    assert main(words) == 2
    assert "Not a metric: no such thing!" in said(capsys)[1]


def test_that_people_are_told_in_their_language_and_machines_in_english(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    missing = str(tmp_path / "none.toml")
    try:
        assert main(["check", "--inventory", missing, "--language", "x-pseudo"]) == BAD_INPUT
        errors = capsys.readouterr().err
        assert main(["check", "--inventory", missing, "--language", "x-pseudo", "--json"]) == BAD_INPUT
        document = json.loads(capsys.readouterr().out)
    finally:
        install("en")
    assert "There is no inventory" not in errors
    assert missing in errors
    assert document["sentence"] == f"There is no inventory at {missing}."
    assert document["safe"] == "Nothing was changed."


def test_that_the_program_has_numpy_ask_for_no_huge_pages() -> None:
    code = "import app.__main__\nimport numpy\nprint(numpy._core.multiarray._get_madvise_hugepage())"
    environment = {name: value for name, value in os.environ.items() if name != "NUMPY_MADVISE_HUGEPAGE"}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "False"


@pytest.mark.parametrize("place", ["0.0.0.0/0", "::/0", "x$(id)", "*", "10.0.0.5,x"])
def test_that_also_takes_no_anybody_and_no_pattern(
    inventory: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    assert main(["topology", "--also", place, "--inventory", str(inventory)]) == BAD_INPUT
    assert f"--also {place}: neither an address nor a network." in said(capsys)[1]


def test_that_declared_networks_are_shown_and_faulty_ones_told(
    inventory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = INVENTORY.replace('seeds = ["db1"]\n', 'seeds = ["db1"]\nnetworks = ["10.20.0.0/24"]\n')
    inventory.write_text(text)
    assert main(["inventory", "show", "--json", "--inventory", str(inventory)]) == 0
    assert json.loads(said(capsys)[0])["clusters"][0]["networks"] == ["10.20.0.0/24"]
    inventory.write_text(text.replace("10.20.0.0/24", "0.0.0.0/0"))
    assert main(["inventory", "show", "--inventory", str(inventory)]) == BAD_INPUT
    assert 'line 5: "networks" in [[cluster]] must contain networks' in said(capsys)[1]


@pytest.mark.parametrize("language", ["de", "xx", "../../etc"])
def test_that_a_language_without_a_translation_is_told(
    inventory: Path, capsys: pytest.CaptureFixture[str], language: str
) -> None:
    assert main(["inventory", "--language", language, "--inventory", str(inventory)]) == 0
    out, err = said(capsys)
    assert "db1" in out
    assert err == f"There is no translation for {language!r} (there is: en). English is used.\n"


@pytest.mark.parametrize("language", ["en", "en_GB", "C.UTF-8"])
def test_that_english_is_no_missing_translation(
    inventory: Path, capsys: pytest.CaptureFixture[str], language: str
) -> None:
    assert main(["inventory", "--language", language, "--inventory", str(inventory)]) == 0
    assert said(capsys)[1] == ""
