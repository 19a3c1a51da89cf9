"""No reader turns a text that it does not know into a value that it knows. Generated texts, and known ones bent."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from services.connections.ports import Rows
from services.facts.backup.backups import whole_gtids
from services.facts.galera.provider_options import option_number
from services.facts.galera.status import parse_galera
from services.facts.galera.whole import Lack, lacks
from services.facts.machine.machine import parse_process, parse_units
from services.facts.machine.process_owner import owner_of
from services.facts.mongodb.sharding import parse_cluster
from services.facts.numeric import replication_values
from services.facts.reading import amount, client_host, count, flag, host_port, size, sized, whole_number, words
from services.facts.replication import gtid
from services.facts.replication.group_replication import STATES, parse_group
from services.facts.replication.replication import parse_replication
from services.facts.replication.semi_sync import parse_semi_sync
from services.facts.server.server import parse_server, read_only_of

UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
_SWITCH = re.compile(r"\s*(?:ON|YES|1|TRUE|OFF|NO|0|FALSE)\s*", re.IGNORECASE)
_READ_ONLY = re.compile(rf"(?:{_SWITCH.pattern})|\s*(?:NO_LOCK|NO_LOCK_NO_ADMIN)\s*", re.IGNORECASE)
_WHOLE = re.compile(r"\s*[-+]?[0-9]{1,20}\s*")
_SIZED = re.compile(r"\s*[-+]?[0-9]{1,20}[KMGTPE]?\s*", re.IGNORECASE)
_OF_PROVIDER = re.compile(rf"(?:{_SIZED.pattern})|\s*[-+]?0x[0-9a-f]{{1,16}}[KMGT]?\s*", re.IGNORECASE)
"""C's strtoll with base 0 (gu_str2ll): hexadecimal too."""
_MARIADB_SET = re.compile(r"(?:\d{1,20}-\d{1,20}-\d{1,20},?)*", re.ASCII)
_INTERVALS = r"(?:\d{1,20}(?:-\d{1,20})?|[a-z_][a-z0-9_]{0,31})"
_MYSQL_SET = re.compile(
    rf",*(?:{UUID}|[0-9a-f-]{{32,36}})(?::{_INTERVALS})*(?:,+(?:[0-9a-f-]{{32,36}}:)?{_INTERVALS}(?::{_INTERVALS})*)*,*"
)

KNOWN = ("ON", "1", "OFF", "NO_LOCK", "16", "1K", "128M", "Yes", "full", "DISABLED", f"{UUID}:1-5:7", "0-1-100")
anything = st.text(max_size=40)


@st.composite
def bent(draw: st.DrawFn) -> str:
    """Return a text that a server might say, with a letter too many, too few, or another one."""
    text = draw(st.sampled_from(KNOWN))
    at = draw(st.integers(0, len(text)))
    put = draw(st.sampled_from(["", "x", " ", "\0", "-", ".", ",", ":", "e", "٣", "²", "_", "1", "K", "\n", "=", "'"]))
    return text[:at] + put + text[at + draw(st.integers(0, 1)) :]


texts = st.one_of(
    anything, bent(), st.sampled_from(["NULL", "auto", "none", "0x10", "1e3", "nan", "inf", "1_000", "PT5S", "5%"])
)

READERS: dict[str, tuple[Callable[[str], object], re.Pattern[str]]] = {
    "flag": (flag, _SWITCH), "read_only": (read_only_of, _READ_ONLY), "whole": (whole_number, _WHOLE),
    "count": (count, _WHOLE), "size": (size, _SIZED), "sized": (sized, _SIZED),
    "number of the provider": (option_number, _OF_PROVIDER),
}  # fmt: skip


@pytest.mark.parametrize("name", READERS)
@given(text=texts)
@example(text="16 K")
@example(text="٣")
def test_that_a_reader_of_one_value_knows_only_what_is_in_its_grammar(name: str, text: str) -> None:
    read, grammar = READERS[name]
    if read(text) is not None:
        assert grammar.fullmatch(text) is not None, (name, text)


@given(texts)
def test_that_an_amount_is_a_number_that_can_not_be_negative(text: str) -> None:
    found = amount(text)
    assert found is None or (found >= 0 and found < float("inf"))


@given(texts)
@example(text=",0-0-0")
@example(text="0-1-5,,1-1-5")
def test_that_a_set_is_read_only_where_the_whole_text_is_one(text: str) -> None:
    clean = "".join(text.lower().split())
    if gtid.parse(text) is not None:
        assert _MARIADB_SET.fullmatch(clean) or _MYSQL_SET.fullmatch(clean) or not clean.strip(","), text
    told = whole_gtids(text)
    assert told == "" or gtid.parse(told) is not None


@given(texts)
def test_that_a_server_of_unknown_words_has_no_switch_no_id_and_no_start(text: str) -> None:
    assume(not _READ_ONLY.fullmatch(text) and not _SIZED.fullmatch(text))
    names = ("read_only", "super_read_only", "server_id", "log_bin")
    server = parse_server(dict.fromkeys(names, text), {"Uptime": text if amount(text) is None else ""}, 1.0)
    values = (
        server.read_only,
        server.super_read_only,
        server.server_id,
        server.log_bin,
        server.uptime_s,
        server.started_at,
    )
    assert set(values) == {None}


@given(texts)
def test_that_a_node_of_unknown_words_is_whole_in_nothing(text: str) -> None:
    assume(
        not _SWITCH.fullmatch(text) and not _OF_PROVIDER.fullmatch(text) and text.strip() not in {"Primary", "Synced"}
    )
    assume(not _OF_PROVIDER.fullmatch(text.replace(";", "")))
    status = {
        f"wsrep_{name}": text
        for name in (
            "cluster_status", "cluster_size", "local_state", "ready", "connected", "desync_count", "local_recv_queue",
            "cluster_weight", "cluster_conf_id", "last_committed", "flow_control_interval", "cluster_state_uuid",
        )
    }  # fmt: skip
    plain = text.replace(";", "")
    options = "; ".join(f"{name} = {plain}" for name in ("pc.weight", "gmcast.segment", "gcs.fc_limit", "gcache.size"))
    variables = {"wsrep_provider": "/x.so", "wsrep_provider_options": options, "wsrep_on": "ON"}
    view = parse_galera(status, variables)
    assert view is not None
    told = (
        view.cluster_size, view.local_state, view.ready, view.connected, view.desync_count, view.recv_queue,
        view.weight, view.segment, view.flow_control_high, view.gcache_size, view.cluster_weight,
        view.conf_id, view.last_committed,
    )  # fmt: skip
    assert set(told) == {None}, text
    assert {Lack.NOT_PRIMARY, Lack.NOT_SYNCED, Lack.READY_UNTOLD, Lack.DESYNC_UNTOLD} <= lacks(view)


@given(texts)
def test_that_a_maintenance_mode_that_is_not_disabled_is_never_well(text: str) -> None:
    view = parse_galera({}, {"wsrep_provider": "/x.so", "pxc_maint_mode": text})
    assert view is not None
    assert (Lack.MAINTAINED in lacks(view)) is (view.maint_mode.upper() not in {"", "DISABLED"})
    assert view.maint_mode or not text.strip() or not text.isprintable() or not view.maint_mode.strip()


@given(texts)
def test_that_a_balancer_of_an_unknown_mode_is_neither_on_nor_off(text: str) -> None:
    assume(words(text) not in {"", "full", "off", "autoSplitOnly"})  # which makes a blank of what can't be printed
    cluster = parse_cluster(balancer={"mode": text}, settings=None)
    assert cluster.balancer is None


@given(texts)
def test_that_a_channel_of_unknown_words_runs_in_nothing_and_has_no_lag(text: str) -> None:
    known = {"yes", "no", "connecting", "preparing"}
    assume(words(text).lower() not in known and amount(text) is None and gtid.parse(text) is None)
    row = {
        "Source_Host": "db1", "Replica_IO_Running": text, "Replica_SQL_Running": text, "Seconds_Behind_Source": text,
        "Source_Server_Id": text, "Relay_Log_Space": text, "Retrieved_Gtid_Set": text, "Executed_Gtid_Set": text,
    }  # fmt: skip
    facts = parse_replication(Rows(tuple(row), (tuple(row.values()),)), None, None, {"gtid_executed": text})
    assert facts is not None
    (one,) = facts.channels
    assert (one.seconds_behind, one.source_server_id, one.relay_log_space) == (None, None, None)
    names = {
        "repl.default.io_running",
        "repl.default.sql_running",
        "repl.default.seconds_behind",
        "repl.default.gtid_gap",
    }
    assert not names & replication_values(facts).keys()
    assert gtid.gap(facts.gtid_executed, one.gtid_executed) is None


@given(texts)
def test_that_a_member_of_a_group_in_an_unknown_state_is_in_none(text: str) -> None:
    assume(text.strip().upper() not in STATES | {"PRIMARY", "SECONDARY"})
    row = {"MEMBER_ID": UUID, "MEMBER_HOST": "db1", "MEMBER_PORT": 3306, "MEMBER_STATE": text, "MEMBER_ROLE": text}
    variables = {"group_replication_group_name": UUID, "server_uuid": UUID}
    facts = parse_group({}, variables, Rows(tuple(row), (tuple(row.values()),)), None, 1.0)
    assert facts is not None
    assert {(one.state, one.role) for one in facts.members} == {("", "")}


@given(texts)
def test_that_semi_sync_of_unknown_words_is_neither_on_nor_off(text: str) -> None:
    assume(not _SWITCH.fullmatch(text) and count(text) is None)
    variables = {"rpl_semi_sync_source_enabled": "ON", "rpl_semi_sync_source_timeout": text}
    facts = parse_semi_sync({"Rpl_semi_sync_source_status": text, "Rpl_semi_sync_source_clients": text}, variables)
    assert facts is not None
    assert (facts.source_active, facts.clients, facts.timeout_ms) == (None, None, None)


@given(texts)
def test_that_a_group_of_unknown_words_tells_nobodys_process(text: str) -> None:
    assume(":/" not in text)
    assert owner_of(text) == ""


@given(texts)
def test_that_a_listing_of_unknown_words_shows_no_process_and_no_unit(text: str) -> None:
    assume("mysqld" not in text and "mariadbd" not in text and "=" not in text)
    assert parse_process(text) == ("", None)
    assert parse_units(text).unit_state == ""


@given(texts)
def test_that_an_address_gains_nothing_that_was_not_there(text: str) -> None:
    host, port = host_port(text, 0)
    assert 0 <= port < 65536
    assert port == 0 or str(port) in text
    assert client_host(text) is not None
    assert len(host) <= max(len(text), 39)


@pytest.mark.parametrize("sign", ["\x08", "\0", "\x1f", "\u202e", "\xa0", "\u3000"])
@pytest.mark.parametrize("word", ["full", "Yes", "ON", "16", "0.5"])
def test_that_a_sign_that_can_not_be_seen_makes_another_word_of_a_known_one(sign: str, word: str) -> None:
    """What is compared is what came; only what is shown is cleaned."""
    for text in (sign + word, word + sign):
        assert words(text) != word
        assert (flag(text), whole_number(text), amount(text)) == (None, None, None)
        assert parse_cluster(balancer={"mode": text}, settings=None).balancer is None
