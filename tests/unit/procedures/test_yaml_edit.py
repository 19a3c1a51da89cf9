"""The configuration file of a MongoDB server, edited: only the wanted lines change, or nothing does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.errors import BadInput
from services.facts.yaml_settings import settings_of
from services.procedures.execute.yaml_edit import Settings, edit_yaml

PACKAGED = """\
# mongod.conf

# for documentation of all options, see:
#   http://docs.mongodb.org/manual/reference/configuration-options/

storage:
  dbPath: /var/lib/mongodb
  journal:
    enabled: true
#  engine:
#  wiredTiger:

# network interfaces
net:
  port: 27019
  bindIp: 127.0.0.1   # and no other

#processManagement:

sharding:
  clusterRole: configsvr  # mirrored

## Enterprise-Only Options:
"""


def _lines(text: str) -> list[str]:
    return text.splitlines()


@pytest.mark.parametrize(
    ("settings", "gone", "come"),
    [
        (
            (("sharding.configsvrMode", "sccc"), ("replication.replSetName", "cfg")),
            [],
            ["  configsvrMode: sccc", "replication:", "  replSetName: cfg"],
        ),
        ((("storage.dbPath", "/data/new"),), ["  dbPath: /var/lib/mongodb"], ["  dbPath: /data/new"]),
        (
            (("net.bindIp", "127.0.0.1,10.0.0.4"),),
            ["  bindIp: 127.0.0.1   # and no other"],
            ["  bindIp: 127.0.0.1,10.0.0.4   # and no other"],
        ),
        ((("net.port", 27020),), ["  port: 27019"], ["  port: 27020"]),
        ((("storage.journal.enabled", None),), ["  journal:", "    enabled: true"], []),
        ((("sharding.clusterRole", None),), ["sharding:", "  clusterRole: configsvr  # mirrored"], []),
        (
            (("sharding.configDB", "cfg/10.0.0.1:27019,h2:27019"),),
            [],
            ["  configDB: cfg/10.0.0.1:27019,h2:27019"],
        ),
        ((("net.port", 27019),), [], []),
        ((("sharding.configsvrMode", None),), [], []),
    ],
)
def test_that_only_the_wanted_lines_change(settings: Settings, gone: list[str], come: list[str]) -> None:
    after = edit_yaml(PACKAGED, settings)
    before = _lines(PACKAGED)
    assert [line for line in before if line not in _lines(after)] == gone
    assert [line for line in _lines(after) if line not in before] == come
    told = settings_of(after)
    for name, value in settings:
        assert told.get(name) == value


def test_that_a_setting_made_and_removed_leaves_the_file_as_it_was() -> None:
    made = edit_yaml(PACKAGED, (("sharding.configsvrMode", "sccc"), ("replication.replSetName", "cfg")))
    assert edit_yaml(made, (("replication.replSetName", None), ("sharding.configsvrMode", None))) == PACKAGED


@pytest.mark.parametrize(
    "text",
    [
        "sharding.clusterRole: configsvr\n",
        "sharding:\n    clusterRole: configsvr\n",
        "sharding:\nnet:\n  port: 1\n",
        "sharding:\n# nothing yet\n",
        "net:\n  port: 1",
        "",
        "---\nnet:\n  port: 1\n",
        "sharding:\r\n  clusterRole: configsvr\r\n",
    ],
)
def test_that_it_is_set_however_the_file_is_written(text: str) -> None:
    try:
        after = edit_yaml(text, (("sharding.configsvrMode", "sccc"),))
    except BadInput:
        assert text.startswith("sharding.")  # two ways of naming in one file: a person's
        return
    assert settings_of(after) == {**settings_of(text), "sharding.configsvrMode": "sccc"}


@pytest.mark.parametrize(
    "text",
    ["sharding: {clusterRole: configsvr}\n", "a: &x 1\nb: *x\n", "- 1\n", "a: [\n", "just words", "a: 1\n" * 60_000],
)
def test_that_a_file_which_can_t_be_edited_by_lines_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        edit_yaml(text, (("sharding.configsvrMode", "sccc"),))


def test_that_a_value_is_quoted_where_yaml_would_read_another() -> None:
    for value in ("yes", "12:30", "null", "a: b", "#x", "é", "1e3"):
        assert settings_of(edit_yaml("net:\n  port: 1\n", (("net.x", value),)))["net.x"] == value


_KEYS = st.sampled_from(["net.port", "net.ssl.mode", "storage.dbPath", "replication.replSetName", "sharding.configDB"])
_VALUES = st.one_of(st.none(), st.integers(0, 70_000), st.text(max_size=12))


@given(st.lists(st.tuples(_KEYS, _VALUES), max_size=6))
def test_that_any_settings_are_as_wanted_or_nothing_is(settings: list[tuple[str, str | int | None]]) -> None:
    try:
        after = settings_of(edit_yaml(PACKAGED, tuple(settings)))
    except BadInput:
        return
    wanted = settings_of(PACKAGED)
    for name, value in settings:
        wanted.pop(name, None)
        if value is not None:
            wanted[name] = value
    assert after == wanted
