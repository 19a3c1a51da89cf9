"""A host's YAML file that takes a reader more than it tells: refused early, whatever it holds."""

from __future__ import annotations

import pytest
import yaml

from services.errors import BadInput
from services.facts.yaml_files.edit import edit_yaml
from services.facts.yaml_files.settings import empty_parts, settings_of

_SCANS = 3_000


@pytest.mark.parametrize(
    "text",
    ["[" * 3_000, "[" * 8_000, "{" * 100_000, "{a: " * 40_000, "- " * 90_000, "? " * 90_000, "[\n" * 90_000,
     "[" + "[]," * 60_000 + "]", "".join(" " * n + "a:\n" for n in range(600)), "a:\n" * 60_000],
    ids=["3000", "8000", "maps", "keys", "dashes", "marks", "lines", "wide", "deep", "many"],
)  # fmt: skip
def test_that_what_is_nested_too_deep_ends_early(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """3,000 brackets took 3.9 s, 8,000 took 41 s: each is looked at with all before it."""
    scans, fetch = 0, yaml.SafeLoader.fetch_more_tokens

    def counted(self: yaml.SafeLoader) -> None:
        nonlocal scans
        scans += 1
        fetch(self)

    monkeypatch.setattr(yaml.SafeLoader, "fetch_more_tokens", counted)
    with pytest.raises(BadInput, match="nested too deeply or too large"):
        settings_of(text)
    assert scans < _SCANS or not text.startswith(("[[[", "{{"))
    with pytest.raises(BadInput):
        edit_yaml(text, (("a.b", 1),))


@pytest.mark.parametrize(
    "text",
    ["a: !!bool x", 'a: !!int ""', "a: !!timestamp x", "a: !!binary x", "a: !!set {b, c}", "a: !!omap [b: 1]",
     "a: !!python/object/apply:os.system [id]", "!!map {a: 1}", "a: !own 1", "a: &x 1", "a: *x"],
)  # fmt: skip
def test_that_tags_and_anchors_are_refused(text: str) -> None:
    """A tag with a value of another kind ended in a KeyError."""
    with pytest.raises(BadInput):
        settings_of(text)


@pytest.mark.parametrize(
    "text", ["a: " + "9" * 6_000, "? {a: 1}\n: 2\n", "%YAML 1.1\n" * 10_000, "a: \0", '"' + "a" * 190_000]
)
def test_that_odd_values_are_no_traceback(text: str) -> None:
    with pytest.raises(BadInput):
        settings_of(text)


def test_that_a_usual_file_is_read() -> None:
    usual = "net:\n  port: 27019\n  bindIp: [127.0.0.1, 10.0.0.1]\nsharding: {clusterRole: configsvr}\n"
    assert settings_of(usual)["sharding.clusterRole"] == "configsvr"
    assert settings_of(usual)["net.bindIp"] == "['127.0.0.1', '10.0.0.1']"


def test_that_a_name_of_digits_is_the_text_that_stands_there() -> None:
    text = "replication: {replSetName: 001}\nnet: {port: 27_019, ipv6: true}\nstorage: {dbPath: 2016-01-02}\n"
    settings = settings_of(text)
    assert (settings["replication.replSetName"], settings["net.port"], settings["net.ipv6"]) == ("001", "27_019", True)
    assert settings["storage.dbPath"] == "2016-01-02"
    assert settings_of("net: {port: 27019}")["net.port"] == 27019


def test_that_a_value_that_is_a_part_as_well_is_refused_with_a_sentence() -> None:
    """It ended in a TypeError where the file of a new member is made."""
    for text in ("storage: x\nstorage.dbPath: /data\n", "storage.dbPath: /data\nstorage: x\n", "a.b: 1\na.b.c.d: 2\n"):
        with pytest.raises(BadInput, match=" is inside a value that is not a mapping"):
            settings_of(text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ()),
        ("net: {port: 1}\nsecurity: {}\n", ()),
        ("security:\nnet:\n  port: 1\nreplication: ~\n", ("security", "replication")),
        ("net:\n  bindIp:\n  port: 1\n", ()),
    ],
)
def test_that_parts_which_hold_nothing_are_named(text: str, names: tuple[str, ...]) -> None:
    assert empty_parts(text) == names


def test_that_a_very_long_file_is_not_edited_setting_by_setting() -> None:
    text = "\n".join(f"k{at}: {at}" for at in range(4_000))
    with pytest.raises(BadInput, match="more than 20000 characters") as raised:
        edit_yaml(text, (("replication.replSetName", "cs"), ("storage.dbPath", "/x")))
    assert "replication.replSetName: cs" in str(raised.value.try_)
    assert edit_yaml(text, (("k7", 7),)) == text
