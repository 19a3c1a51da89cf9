"""May this node be started: does an IST continue its own past? Read anew just before each start (histories.py)."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import replace

from services.connections.ports import Output
from services.connections.reads import commands, statements
from services.connections.reads.read import CommandRead
from services.errors import UserError
from services.facts import reads
from services.facts.galera.state_files import ZERO_UUID, Grastate, made_by_hand, parse_grastate, parse_gvwstate
from services.facts.machine.file_answers import is_absent
from services.facts.model import GaleraFacts, MachineFacts, NodeFacts
from services.facts.reading import count
from services.facts.server.option_files import parse_defaults
from services.procedures.looking.asked import number_of, server_options
from services.procedures.looking.histories import Road, compare_between
from services.procedures.looking.marks import Ran, mark_kept, mark_now, ran_since, started_since, states_at
from services.procedures.plan.condition import Answer, Declared, Kept, OfHost, condition
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.looks import Asking, Past
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.traces import Trace, Traces
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.log_filters import LogFilters
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.variables import Variables
from services.procedures.plan.pasts.histories import among, claim_is_confirmed, histories
from services.procedures.plan.pasts.histories_model import Histories
from services.procedures.plan.pasts.positions import kept_name, mark_name, recovered_position, stood_name
from services.types import Reach

_LOGGING = ("log_bin", "log_bin_index", "log_slave_updates", "log_replica_updates")


@condition("galera.same-history", "the history of {host}")
class SameHistory(OfHost):
    """What an IST would bring `host` continues its own past: it shares that of `hosts`, or has no state at all.

    Without a state in grastate.dat only an SST can come (Galera takes a recovered position only for the UUID that
    stands there), and it erases the data folder: the plan has to know. A fork can never hold; what is not known does
    not hold either, but where a person accepted that. Neither can a seqno in grastate.dat that is not its data's.

    Attributes:
        unit, datadir: of the host that is to be started.
        stopped_at: the position that this run saw it leave these hosts at: where it still stands there, nothing moved.
        accepted: a person named this host before: its past may stay unknown.
        by_sst: the plan knows that no state stands there, and has judged what an SST would erase.
        up: all of them run without a Primary Component, and tell where they stand: pc.bootstrap takes them along.
        filters: (host, option, value) of what leaves transactions out of a host's binary log, as the plan saw it: they
            change only with a restart. One that lacks there is no fork.
    """

    hosts: tuple[str, ...]
    state_uuid: str
    unit: str
    datadir: str
    stopped_at: Kept | None = None
    accepted: bool = False
    by_sst: bool = False
    up: bool = False
    filters: tuple[tuple[str, str, str], ...] = ()

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(
            frozenset({self.host, *self.hosts}),
            shows_past_of=frozenset({self.host}),
            enough_of=frozenset(self.hosts),
        )

    def look(self, asking: Asking) -> Answer:
        """Look at the state file; where it moved since this run stopped the node, at logs and binary logs of both."""
        if self.up:
            return _compared(self, Grastate(self.state_uuid, -1), asking, asking.past)
        host, path = self.host, posixpath.join(self.datadir, "grastate.dat")
        output = asking.run(host, commands.CONTENT.read(path, sudo=True))
        if output.exit_code and not is_absent(output):
            return Answer(holds=None, evidence=f"{path} of {host} could not be read")
        state = Grastate(ZERO_UUID) if output.exit_code else parse_grastate(output.text)
        if state is None:
            return Answer(holds=None, evidence=f"{path} of {host} is damaged: its cluster is not known")
        left = _left_at(self, asking.past)
        if state.uuid == ZERO_UUID:
            return _without_state(self, asking, left)
        ran = Ran()
        if left is not None and (state.uuid, state.seqno) == (self.state_uuid, left):
            said = f"it left one Primary Component with {', '.join(self.hosts)} at {left} in this run"
            # A server that runs without its provider leaves the state file as it is: seen on the lab, its rows forked.
            ran = ran_since(host, self.datadir, _stood(self, asking.past), asking)
            if not ran.told:
                return Answer(holds=True, evidence=f"{said}, and is still there: no server has run on it since")
        past = _moved_on(self, state, asking)
        if told := _contradicted(self, state, left, past):
            return Answer(holds=False, evidence=told, final=True)
        answer = _compared(self, state, asking, past)
        if ran.by_hand and answer.holds and not self.accepted:
            return _unwritten(host, ran.told, answer)
        return replace(answer, evidence=f"{ran.told}; {answer.evidence}") if ran.told else answer


def _unwritten(host: str, ran: str, answer: Answer) -> Answer:
    """Logs that agree are no proof where a server was run by hand: it may have written no binary log.

    Seen on the lab (MariaDB 10.11.18): --skip-log-bin, or a session with sql_log_bin = 0; three rows forked by IST.
    """
    said = (
        f"{ran}, started by hand, and its grastate.dat is unchanged: writes that bypassed its binary log are in no log"
    )
    way = f"join {host} with add-node, which asks you to type its name, or gives up its data"
    evidence = f"{said}. {answer.evidence}, which is not enough: its history is not known; {way}"
    return Answer(holds=False, evidence=evidence, final=True)


def _stood(condition: SameHistory, past: Past) -> str:
    """Return the mark that was kept when this run stopped the node, '' for none."""
    return past.kept.get(stood_name(condition.stopped_at.name), "") if condition.stopped_at is not None else ""


def _left_at(condition: SameHistory, past: Past) -> int | None:
    """Return where this run stopped the node, None where it did not."""
    return number_of(condition.stopped_at, past) if condition.stopped_at is not None else None


def _trusted(condition: SameHistory, state: Grastate, past: Past) -> dict[str, str]:
    """Return the seqno of a file as a position like a recovered one, where this run had stopped the node cleanly.

    The file was right then, and moved on with its server since: an undo must not leave a node of a quiet cluster down
    because its binary log holds no Xid that accounts for it.
    """
    if _left_at(condition, past) is None or state.seqno is None or state.seqno < 0:
        return {}
    return {kept_name(condition.host): f"{state.uuid}:{state.seqno}"}


def _without_state(condition: SameHistory, asking: Asking, left: int | None) -> Answer:
    """Only an SST can come: it may where the plan has judged what that erases, or it erases nothing of its own.

    A start that fails may leave the file without a state (a zero UUID after an unknown option, MariaDB 10.11.18).
    """
    host = condition.host
    if condition.by_sst:
        return Answer(holds=True, evidence=f"{host} has no state in grastate.dat: it can only join by SST")
    listed = asking.run(host, commands.NAMES.read(condition.datadir, sudo=True))
    if listed.exit_code == 0 and not listed.text.strip():
        return Answer(holds=True, evidence=f"{condition.datadir} of {host} is empty: it can only join by SST")
    if left is not None and (keeper := _who_has(condition, asking, left)):
        said = f"{host} has no state in grastate.dat now; it left {keeper}'s Primary Component at {left} in this run"
        return Answer(holds=True, evidence=f"{said}, and {keeper} has everything up to there: it can join by SST")
    said = f"{host} has no state in grastate.dat now: an SST would erase the other contents of {condition.datadir}"
    return Answer(holds=False, evidence=f"{said}; make a new plan", final=True)


def _who_has(condition: SameHistory, asking: Asking, seqno: int) -> str:
    """Return a member of the Primary Component that serves now and has everything up to `seqno`, '' where none does."""
    for name in condition.hosts:
        try:
            status = asking.status(name)
        except UserError:
            continue
        found = _member(status)
        ours = found.cluster_status == "Primary" and found.state_uuid == condition.state_uuid
        if ours and found.last_committed is not None and found.last_committed >= seqno:
            return name
    return ""


def _moved_on(condition: SameHistory, state: Grastate, asking: Asking) -> Past:
    """Return the past with the file's position for the recovered one, where a server ran and wrote that file since.

    A run that started the node itself and takes that back has a clean stop's file before it, further than InnoDB was
    when the run asked: seen in a random night, where an undo so left three nodes down. A file that says what it said
    when InnoDB was asked stays contradicted.
    """
    host, past = condition.host, asking.past
    recovered = recovered_position(Facts(0.0, state.uuid, "", kept=tuple(past.kept.items())), host)
    if recovered is None or state.seqno is None or recovered[0] != state.uuid or state.seqno <= (recovered[1] or 0):
        return past
    before = mark_kept(past.kept.get(mark_name(host), ""))
    if before is None or before.state in states_at(state.uuid, state.seqno):
        return past
    now = mark_now(host, condition.datadir, asking)
    if now.unread or not (started_since(before, now) or now.files != before.files):
        return past
    return replace(past, kept={**past.kept, kept_name(host): f"{state.uuid}:{state.seqno}"})


def _contradicted(condition: SameHistory, state: Grastate, left: int | None, past: Past) -> str:
    """Return what says that the seqno in grastate.dat is not the position of the data; '' where nothing does."""
    host, claimed = condition.host, state.seqno
    if claimed is None or claimed < 0 or state.uuid != condition.state_uuid:
        return ""
    if left is not None and claimed < left:  # further is no contradiction: it may have run again since
        said = f"{host} stopped at {left} in this run, and its grastate.dat says {claimed} now"
        return f"{said}: join it with add-node, which asks InnoDB for the position of its data"
    recovered = recovered_position(Facts(0.0, state.uuid, "", kept=tuple(past.kept.items())), host)
    if recovered is not None and recovered != (state.uuid, claimed):
        return f"InnoDB of {host} recovered {recovered[1]}, and its grastate.dat says {claimed}"
    return ""


def _compared(condition: SameHistory, state: Grastate, asking: Asking, past: Past) -> Answer:
    if condition.up:
        donors = tuple(_running(name, condition, asking) for name in condition.hosts)
        joiner = _running(condition.host, condition, asking)
    else:
        seen = asking.each(condition.hosts, lambda name: _donor(name, condition, asking))
        donors = tuple(found for found in seen.values() if isinstance(found, HostFacts))
        joiner = _joiner(condition, state, asking)
    facts = Facts(
        asking.clock.wall(),
        condition.state_uuid,
        "",
        members=(condition.host, *condition.hosts),
        hosts=(joiner, *donors),
        kept=tuple({**_trusted(condition, state, past), **past.kept}.items()),
        two_primaries=asking.facts.two_primaries if asking.facts is not None else (),
    )
    names = tuple(host.host for host in donors)
    roads = {name: _road(asking, name) for name in (condition.host, *names)}
    joiners = (condition.host, *names) if condition.up else (condition.host,)
    facts = compare_between(facts, joiners, joiners if condition.up else names, roads, _each(asking))
    found = among(tuple(_between(facts, condition, name) for name in names))
    if found.outcome == "forked":
        said = f"{condition.host} and {', '.join(names)} have parted: {found.evidence}"
        return Answer(holds=False, evidence=said, final=True)
    asked = recovered_position(facts, condition.host) is not None
    if (
        not asked
        and (state.seqno or 0) >= 0
        and not claim_is_confirmed(state, facts.host(condition.host)[Traces].trace)
    ):
        evidence = (
            f"nothing shows that the seqno {state.seqno} in grastate.dat of {condition.host} is "
            "the position of its data"
        )
        return Answer(holds=None, evidence=evidence, lines=found.missing)
    if found.outcome == "same":
        return Answer(holds=True, evidence=f"one history: {found.evidence}")
    if condition.accepted:
        return Answer(holds=True, evidence=f"you accepted an unknown history: {found.evidence}", lines=found.missing)
    return Answer(holds=None, evidence=f"{found.evidence}: {'; '.join(found.missing)}", lines=found.missing)


def _between(facts: Facts, condition: SameHistory, name: str) -> Histories:
    """Return how two pasts stand to each other; where nobody serves, whichever of them is further."""
    found = histories(facts, condition.host, name)
    if not condition.up:
        return found
    return min(found, histories(facts, name, condition.host), key=lambda one: one.rank)


def _running(name: str, condition: SameHistory, asking: Asking) -> HostFacts:
    """Return a server that runs without a Primary Component, and where it stands. UserError for a silent one."""
    status, variables = asking.status(name), asking.session(name).query(statements.LOG_SETTINGS).pairs()
    return _server(name, condition, asking, _member(status), variables)


def _member(status: Mapping[str, str]) -> GaleraFacts:
    """Return what a server's status says of its place in the cluster, and where it stands."""
    return GaleraFacts(
        state_uuid=status.get("wsrep_cluster_state_uuid", "").lower(),
        local_state_uuid=status.get("wsrep_local_state_uuid", "").lower(),
        cluster_status=status.get("wsrep_cluster_status", ""),
        last_committed=count(status.get("wsrep_last_committed", "")),
    )


def _joiner(condition: SameHistory, state: Grastate | None, asking: Asking) -> HostFacts:
    path = posixpath.join(condition.datadir, "gvwstate.dat")
    view = asking.run(condition.host, commands.CONTENT.read(path, sudo=True))
    text = view.text if view.exit_code == 0 else ""
    host = _host(condition.host, condition, condition.datadir, asking)
    folder = replace(
        host[DataFolder], grastate=state, gvwstate=parse_gvwstate(text), gvwstate_by_hand=made_by_hand(text)
    )
    return replace(host, server_up=False).with_part(folder)


def _donor(name: str, condition: SameHistory, asking: Asking) -> HostFacts:
    """Return a member as it is now; by its files where it is not Primary. Raises UserError for one that is silent."""
    try:
        status = asking.status(name)
        variables = asking.session(name).query(statements.LOG_SETTINGS).pairs()
    except UserError:
        status, variables = {}, {}
    if status.get("wsrep_cluster_status") != "Primary":
        return _at_rest(name, condition, asking)
    return _server(name, condition, asking, _member(status), variables)


def _server(
    name: str, condition: SameHistory, asking: Asking, galera: GaleraFacts, variables: Mapping[str, str]
) -> HostFacts:
    host = _host(name, condition, variables.get("datadir", ""), asking)
    options = (*host[Options].given, ("mysqld", "log_error", variables.get("log_error", "")))
    node = NodeFacts(name, asking.clock.wall(), Reach.FULL, galera=galera, machine=MachineFacts())
    known = tuple((name, variables.get(name, "")) for name in _LOGGING)
    running = replace(host, node=node, server_up=True)
    return running.with_part(replace(host[Options], given=options)).with_part(Variables(known))


def _at_rest(name: str, condition: SameHistory, asking: Asking) -> HostFacts:
    host = _host(name, condition, "", asking)
    folder = reads.clean(host[Options].option("mysqld", "datadir") or reads.DEFAULT_DATADIR)
    at_rest = replace(condition, host=name, datadir=folder)
    output = asking.run(name, commands.CONTENT.read(posixpath.join(folder, "grastate.dat"), sudo=True))
    return _joiner(at_rest, parse_grastate(output.text) if output.exit_code == 0 else None, asking)


def _host(name: str, condition: SameHistory, datadir: str, asking: Asking) -> HostFacts:
    seen = asking.facts.host(name) if asking.facts is not None else HostFacts(name)
    output = server_options(asking, name)
    options = parse_defaults(output.text, "mysqld") if output.exit_code == 0 else ()
    node = NodeFacts(name, asking.clock.wall(), Reach.SSH_ONLY, machine=MachineFacts())
    own = (Unit(seen[Unit].name or condition.unit), DataFolder(datadir.rstrip("/") or "/"), Options(options))
    left_out = tuple((option, value) for host, option, value in condition.filters if host == name)
    return HostFacts(name, node=node, parts=(*own, LogFilters(started=left_out)))


def _road(asking: Asking, name: str) -> Road:
    def run(read: CommandRead, limit_s: float) -> Output | None:
        try:
            return asking.run(name, read, limit_s=limit_s)
        except UserError:
            return None

    return run


def _each(asking: Asking) -> Callable[[tuple[str, ...], Callable[[str], Trace]], list[Trace]]:
    def each(names: tuple[str, ...], do: Callable[[str], Trace]) -> list[Trace]:
        found = asking.each(names, do)
        return [one if isinstance(one, Trace) else Trace(unread=(one.sentence,)) for one in found.values()]

    return each
