"""The configuration file of a MongoDB server, edited: only the wanted lines change, or nothing does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.errors import BadInput
from services.facts.yaml_files.edit import Settings, edit_yaml
from services.facts.yaml_files.settings import settings_of

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
    [
        "net: {port: 1}\nnet.port: 2\n",
        "sharding: a\n",
        "a: &x 1\nb: *x\n",
        "- 1\n",
        "a: [\n",
        "just words",
        "a: 1\n" * 60_000,
    ],
)
def test_that_a_file_which_can_t_be_edited_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        edit_yaml(text, (("sharding.configsvrMode", "sccc"),))


STRING = "a:27019,b:27019,c:27019"
NEW = "cfg/a:27019,b:27019,c:27019"


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        (f"# r1's own\nsharding: {{configDB: '{STRING}'}}  # of 2019\nnet: {{port: 27017}}\n", ["# r1's own", "2019"]),
        (f"{{sharding: {{configDB: '{STRING}'}}, net: {{port: 27017}}}}\n", []),
        (f"# r1's own\nsharding:\n  configDB: >-\n    {STRING}\n# the port\nnet:\n  port: 27017\n", ["# the port"]),
        (f"sharding:\n    configDB: |\n        {STRING}\nnet:\n    port: 27017\n", []),
        (f"---\n# r1's own\nsharding:\n  configDB: {STRING}\nnet:\n  port: 27017\n...\n", ["---", "# r1's own"]),
        (f"sharding:\n  configDB: {STRING}\nnet:\n  port: 27017\nsharding:\n  chunkSize: 64\n", ["chunkSize: 64"]),
    ],
)
def test_that_a_file_is_edited_as_odd_as_it_is_and_keeps_its_comments(text: str, stays: list[str]) -> None:
    wanted = {**settings_of(text), "sharding.configDB": NEW, "net.bindIp": "10.0.0.4"}
    after = edit_yaml(text, (("sharding.configDB", NEW), ("net.bindIp", "10.0.0.4")))
    assert settings_of(after) == wanted
    assert [one for one in stays if one not in after] == []


def test_that_a_new_part_comes_before_the_end_of_the_document() -> None:
    after = edit_yaml("---\nnet:\n  port: 27019\n...\n", (("replication.replSetName", "cfg"),))
    assert settings_of(after) == {"net.port": 27019, "replication.replSetName": "cfg"}


def test_that_a_refusal_says_what_to_write() -> None:
    with pytest.raises(BadInput) as caught:
        edit_yaml("sharding: 3\n", (("sharding.configDB", NEW), ("net.x", None)))
    assert f"sharding.configDB: {NEW}" in " ".join(caught.value.try_)


def test_that_a_part_that_stands_twice_is_one_as_the_server_reads_it_and_a_setting_twice_is_none() -> None:
    assert settings_of("net:\n  port: 1\nnet:\n  ipv6: true\n") == {"net.port": 1, "net.ipv6": True}
    with pytest.raises(BadInput, match=r"net\.port appears twice, the second time in line 3"):
        settings_of("net:\n  port: 1\n  port: 2\n")


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
