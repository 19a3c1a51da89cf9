"""A text that a server cut is never taken for whole: it is read again by itself, or it is not known.

Texts of the project's own: MySQL 8.0 and 9.7 keep SHOW GLOBAL VARIABLES in 1,024 characters, older PXC in 2,048.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.connections.ports import Rows
from services.connections.reads import statements
from services.connections.reads.read import SqlRead
from services.errors import QueryFailed
from services.facts.galera.provider_options import is_cut, option_number, provider_options
from services.facts.galera.status import parse_galera
from services.facts.reading import CUTS, may_be_cut
from services.facts.replication import gtid
from services.facts.replication.group_replication import parse_group
from services.facts.replication.replication import parse_replication, replication_problems
from services.facts.server.cut_texts import MOST_READ_WHOLE, read_variable, read_variables, uncut
from services.facts.server.server import parse_server
from services.facts.server.variable_changes import changed_variables

DATA = Path(__file__).parents[1] / "data"
OPTIONS = (DATA / "mysql-wsrep-8.0.31-provider-options.txt").read_text()
GROUP = "5b1f0a52-9d0e-11ef-8c3a-0242ac110002"


def gtids(servers: int = 30, most: int = 5_000_000) -> str:
    """Return a set of so many servers, a source a line, as MySQL prints it."""
    return ",\n".join(f"{n:08x}-9d0e-11ef-8c3a-0242ac110002:1-{most + n}" for n in range(servers))


class ScriptedServer:
    """Shows its variables cut, and whole ones where it is asked for one by itself."""

    def __init__(self, whole: dict[str, str], cut: int = 1024, *, refuses: bool = False) -> None:
        self.whole, self.cut, self.refuses = whole, cut, refuses
        self.asked: list[str] = []

    def query(self, read: SqlRead) -> Rows:
        self.asked.append(read.name)
        if read.name == "whole-variable":
            if self.refuses:
                raise QueryFailed("Access denied", errno=1227)
            return Rows(("@@GLOBAL.x",), ((self.whole[str(read.values[0])],),))
        shown = self.whole if read == statements.VARIABLES else {str(read.values[0]): self.whole[str(read.values[0])]}
        return Rows(("Variable_name", "Value"), tuple((n, v[: self.cut]) for n, v in shown.items()))


@pytest.mark.parametrize("cut", sorted(CUTS))
def test_that_what_a_server_cut_is_read_whole_in_the_same_sweep_by_a_statement_each(cut: int) -> None:
    whole = {"gtid_executed": gtids(120), "gtid_purged": gtids(119), "version": "9.7.4", "port": "3306"}
    server = ScriptedServer(whole, cut)
    assert read_variables(server.query) == whole
    assert server.asked == ["variables", "whole-variable", "whole-variable"]


def test_that_nothing_more_is_asked_of_a_server_that_cut_nothing() -> None:
    server = ScriptedServer({"gtid_executed": gtids(3), "version": "9.7.4"})
    read_variables(server.query)
    assert server.asked == ["variables"]


def test_that_what_can_not_be_read_whole_stays_as_long_as_a_cut_text_and_tells_nothing() -> None:
    server = ScriptedServer({"gtid_executed": gtids()}, refuses=True)
    values = read_variables(server.query)
    assert len(values["gtid_executed"]) == 1024
    facts = parse_replication(Rows((), ()), None, None, values)
    assert facts is not None
    assert gtid.gap(facts.gtid_executed, "") is None
    assert [p.code for p in replication_problems(facts)] == ["gtid-cut"]


def test_that_a_hostile_server_of_cut_texts_only_is_asked_few_of_them() -> None:
    server = ScriptedServer({f"v{n}": "x" * 3000 for n in range(400)})
    read_variables(server.query)
    assert server.asked.count("whole-variable") == MOST_READ_WHOLE


def test_that_another_answer_than_the_shown_beginning_is_not_believed() -> None:
    server = ScriptedServer({"tls_ciphersuites": "A" * 1500})
    values = read_variables(
        lambda read: Rows(("x",), (("1",),)) if read.name == "whole-variable" else server.query(read)
    )
    assert may_be_cut(values["tls_ciphersuites"])


def test_that_a_proof_reads_one_long_variable_whole_or_says_that_it_is_not_known() -> None:
    server = ScriptedServer({"wsrep_provider_options": OPTIONS})
    assert read_variable(server.query, "wsrep_provider_options") == OPTIONS
    deaf = ScriptedServer({"wsrep_provider_options": OPTIONS}, refuses=True)
    with pytest.raises(QueryFailed, match="1024 characters"):
        read_variable(deaf.query, "wsrep_provider_options")
    assert read_variable(lambda _: Rows((), ()), "no_such") is None


@pytest.mark.parametrize("length", sorted(CUTS))
def test_that_a_set_of_exactly_such_a_length_is_not_known_wherever_it_comes_from(length: int) -> None:
    text = gtids(120)[:length]
    assert gtid.parse(text) is None
    channel = {"Source_Host": "db1", "Retrieved_Gtid_Set": text, "Executed_Gtid_Set": text}
    rows = Rows(tuple(channel), (tuple(channel.values()),))
    facts = parse_replication(rows, None, None, {"gtid_executed": text, "gtid_binlog_pos": text})
    assert facts is not None
    one = facts.channels[0]
    sets = {facts.gtid_executed, facts.gtid_binlog_pos, one.gtid_received, one.gtid_executed}
    assert sets == {gtid.CUT}
    assert gtid.gap(gtid.CUT, "") is None
    assert gtid.gap(gtids(2), gtid.CUT) is None


@pytest.mark.parametrize("length", [1023, 1025, 2047, 4097])
def test_that_texts_of_other_lengths_count_as_they_stand(length: int) -> None:
    assert not may_be_cut("x" * length)
    assert not may_be_cut("")


def test_that_a_cut_may_be_counted_in_bytes() -> None:
    assert may_be_cut("ü" * 512)
    assert may_be_cut("ü" * 1024)


@pytest.mark.parametrize("length", sorted(CUTS))
def test_that_of_provider_options_what_stands_there_whole_counts_and_the_rest_is_not_known(length: int) -> None:
    text = (OPTIONS if length < 2048 else f"{OPTIONS}{'socket.ssl_cipher = A; ' * 200}")[:length]
    view = parse_galera({}, {"wsrep_provider": "/usr/lib/libgalera_smm.so", "wsrep_provider_options": text})
    assert view is not None
    assert is_cut(text)
    if length == 1024:
        assert (view.weight, view.segment, view.gcache_freeze_supported) == (None, None, None)
    assert view.gcache_size == 2 * 2**30


@pytest.mark.parametrize("cut", range(700, 1400, 7))
def test_that_no_option_is_read_of_a_name_or_a_value_that_the_cut_went_through(cut: int) -> None:
    whole, read = provider_options(OPTIONS), provider_options(f"{OPTIONS[:cut].ljust(1024)[:1024]}")
    assert {name: value for name, value in read.items() if whole.get(name) != value} == {}


def test_that_a_text_that_ends_inside_a_name_was_cut_whatever_its_length() -> None:
    text = OPTIONS[: OPTIONS.index("gcs.recv_q_hard") + 5]
    assert is_cut(text)
    assert not is_cut(OPTIONS)
    view = parse_galera({}, {"wsrep_provider": "/x.so", "wsrep_provider_options": text})
    assert view is not None
    assert (view.weight, view.gcache_freeze_supported) == (None, None)


def test_that_lists_of_addresses_and_paths_that_may_be_cut_are_not_known() -> None:
    addresses = ",".join(f"192.0.2.{n % 250}:3306" for n in range(120))[:1024]
    status = {"wsrep_incoming_addresses": addresses}
    view = parse_galera(status, {"wsrep_provider": "/x.so", "wsrep_cluster_address": f"gcomm://{addresses}"[:2048]})
    assert view is not None
    assert view.incoming_addresses == ()
    seeds = {"group_replication_group_name": GROUP, "group_replication_group_seeds": addresses}
    group = parse_group({}, seeds, None, None, 1.0)
    assert group is not None
    assert group.seeds == ()
    assert parse_server({"datadir": "/" + "d" * 1023}, {}, 1.0).datadir == ""


def test_that_a_setting_that_may_be_cut_is_shown_with_its_end_open() -> None:
    shown = dict(parse_server({"wsrep_provider_options": OPTIONS[:1024]}, {}, 1.0).variables)
    assert shown["wsrep_provider_options"].endswith("…")


def test_that_a_change_behind_a_cut_is_told_by_the_part_that_differs() -> None:
    old = {"optimizer_switch": ",".join(f"switch_number_{n}=on" for n in range(70))}
    new = {"optimizer_switch": old["optimizer_switch"].replace("switch_number_68=on", "switch_number_68=off")}
    assert len(old["optimizer_switch"]) > 1024
    seen = [read_variables(ScriptedServer(one).query) for one in (old, new)]
    (told,) = changed_variables(*seen)
    before, _, after = told.partition(" -> ")
    assert ("switch_number_68=on" in before, "switch_number_68=off" in after) == (True, True)
    assert len(told) < 200


def test_that_a_weight_behind_the_cut_that_changed_is_told() -> None:
    old, new = ({"wsrep_provider_options": OPTIONS.replace("pc.weight = 4", f"pc.weight = {n}")} for n in (4, 5))
    seen = [read_variables(ScriptedServer(one).query) for one in (old, new)]
    assert changed_variables(*seen) == ("pc.weight: 4 -> 5",)


def test_that_a_text_that_is_once_cut_and_once_whole_is_no_change() -> None:
    whole = {"tls_ciphersuites": "TLS_AES_256_GCM_SHA384:" * 60}
    cut = {"tls_ciphersuites": whole["tls_ciphersuites"][:1024]}
    assert changed_variables(cut, whole) == changed_variables(whole, cut) == ()
    options = {"wsrep_provider_options": OPTIONS}
    assert changed_variables({"wsrep_provider_options": OPTIONS[:1024]}, options) == ()


@given(st.dictionaries(st.sampled_from(["gtid_executed", "version", "sql_mode", "ünder"]), st.text(max_size=2100)))
def test_that_a_cut_text_becomes_empty_and_every_other_one_stays(values: dict[str, str]) -> None:
    for name, value in uncut(values).items():
        assert value == ("" if may_be_cut(values[name]) else values[name])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1K", 1024), ("1k", 1024), ("2M", 2 * 2**20), ("1G", 2**30), ("3T", 3 * 2**40), ("16", 16), ("0", 0),
        ("-1", -1),
        ("010", 8), ("0x10", 16), ("1.5K", None), ("1KB", None), ("K", None), ("", None), ("PT1S", None),
        ("9223372036854775807", None), ("16 K", None),
    ],
)  # fmt: skip
def test_that_every_number_of_the_provider_has_one_reader(text: str, number: int | None) -> None:
    assert option_number(text) == number


@pytest.mark.parametrize(
    ("limit", "members", "high"), [("1K", 3, 1774), ("2K", 3, 3547), ("16", 3, 28), ("1K", 1, 1024)]
)
def test_that_a_limit_of_flow_control_printed_with_a_suffix_is_a_limit(limit: str, members: int, high: float) -> None:
    options = OPTIONS.replace("gcs.fc_limit = 2K", f"gcs.fc_limit = {limit}")
    status = {"wsrep_cluster_size": str(members)}
    view = parse_galera(status, {"wsrep_provider": "/x.so", "wsrep_provider_options": options})
    assert view is not None
    assert view.flow_control_high == high
