"""What a Galera node's state is called, how serious it is, and the sentence behind it, in the vendor's own words."""

from __future__ import annotations

from services.discovery.families.galera.certificates import with_certificate
from services.discovery.families.galera.transfers import is_joining, tells_a_past_view
from services.discovery.judgement import states
from services.discovery.judgement.judge import Around, Judgement, dated, serving
from services.discovery.judgement.switches import nobody_writes, replicates
from services.discovery.nodes import Node
from services.discovery.words import joined, names, number
from services.facts.galera.status import OFF_SENTENCE
from services.facts.galera.whole import DONOR, JOINED, JOINER, SYNCED, Lack, lacks
from services.facts.model import GaleraFacts
from services.i18n import tr, tr_n
from services.types import Health


def own_word(node: Node, around: Around) -> Judgement:
    """Return the judgement of a node that answers; a plain server behind the group only serves."""
    if node.galera is None:
        return serving(node, around)
    return with_certificate(_with_writes(_told(node, node.galera, around), node, around), node)


def _with_writes(told: Judgement, node: Node, around: Around) -> Judgement:
    """Say of a whole member that no member takes writes: one alone may be kept for reads."""
    members = [node, *around.observers]
    if told.health is not Health.GOOD or any(replicates(member) for member in members):
        return told
    text = nobody_writes(node, members)
    return Judgement(told.state, Health.WARN, text) if text else told


def _told(node: Node, galera: GaleraFacts, around: Around) -> Judgement:
    missing = lacks(galera)
    if Lack.OFF in missing:
        return Judgement(states.NOT_REPLICATING, Health.BAD, tr(OFF_SENTENCE))
    status = galera.cluster_status.lower()
    comment = galera.local_state_comment
    if Lack.INCONSISTENT in missing:
        text = tr(
            "{name} found its data inconsistent with the group and left it; it needs a full state transfer",
            name=node.name,
        )
        return Judgement(states.INCONSISTENT.called(comment), Health.BAD, text)
    if Lack.NOT_PRIMARY not in missing or tells_a_past_view(galera):
        return _primary(node, galera, around, missing)
    if status == "non-primary":
        return Judgement(states.NON_PRIMARY, Health.BAD, _island(node, galera, around))
    if status == "disconnected":
        if is_joining(node) or comment.lower().startswith("join"):
            return Judgement(
                states.JOINING.called(comment), Health.TRANSFER, tr("{name} is joining the group", name=node.name)
            )
        text = tr("{name} is not connected to a group; it refuses queries", name=node.name)
        return Judgement(states.DISCONNECTED, Health.BAD, text)
    why = node.why("galera") or tr("the server does not report its group state")
    if status:
        why = tr("wsrep_cluster_status is {value}, which is not known", value=galera.cluster_status)
    return Judgement(states.NOT_KNOWN, Health.UNKNOWN, why)


def _island(node: Node, galera: GaleraFacts, around: Around) -> str:
    others = (galera.cluster_size or 1) - 1
    sees = (
        tr("{name} sees only itself", name=node.name)
        if others < 1
        else tr_n(
            "{name} sees only {n} other node",
            "{name} sees only {n} other nodes",
            others,
            n=number(others),
            name=node.name,
        )
    )
    refuses = "" if galera.ready else tr("it refuses queries")
    primary = [o.name for o in around.observers if o.galera is not None and o.galera.cluster_status == "Primary"]
    who = names(primary)
    without = (
        tr_n("{names} continues without it", "{names} continue without it", len(primary), names=who) if primary else ""
    )
    return joined(dated(sees, node, states.NON_PRIMARY), refuses, without)


def _primary(node: Node, galera: GaleraFacts, around: Around, missing: frozenset[Lack]) -> Judgement:
    state = galera.local_state
    if state == SYNCED:
        return _synced(node, galera, missing)
    if state == DONOR:
        text = around.transfer or tr("{name} is desynced: flow control does not wait for it", name=node.name)
        return Judgement(states.DONOR, Health.TRANSFER, text)
    if state == JOINER:
        text = around.transfer or tr("{name} is receiving a state transfer", name=node.name)
        return Judgement(states.JOINER, Health.TRANSFER, text)
    if state == JOINED:
        text = tr("{name} is catching up", name=node.name)
        if galera.recv_queue is not None:
            text = tr("{name} is catching up: {n} write sets to go", name=node.name, n=number(galera.recv_queue))
        return Judgement(states.JOINED, Health.TRANSFER, text)
    other = states.OTHER.called(galera.local_state_comment)
    text = tr("{name} is in the primary component but not synced ({state})", name=node.name, state=tr(other.word))
    return Judgement(other, Health.WARN, text)


def _maintained(name: str, mode: str) -> str:
    """Return what a node's pxc_maint_mode keeps away (Percona XtraDB Cluster manual, "ProxySQL Admin")."""
    if mode in {"MAINTENANCE", "SHUTDOWN"}:
        return tr("{name} accepts no clients from a proxy: pxc_maint_mode is {value}", name=name, value=mode)
    return tr("pxc_maint_mode of {name} is {value}, which is not known", name=name, value=mode)


def _synced(node: Node, galera: GaleraFacts, missing: frozenset[Lack]) -> Judgement:
    synced = states.SYNCED.called(galera.local_state_comment)
    if Lack.REFUSES in missing:
        rejects = galera.reject_queries.upper()
        text = tr("{name} refuses queries: wsrep_reject_queries is {value}", name=node.name, value=rejects)
        return Judgement(synced, Health.WARN, text)
    if Lack.MAINTAINED in missing:
        return Judgement(synced, Health.WARN, _maintained(node.name, galera.maint_mode.upper()))
    if Lack.FROZEN in missing and galera.gcache_frozen_at is not None:
        text = tr(
            "the gcache of {name} is frozen at {seqno}: its disk fills until somebody releases it",
            name=node.name,
            seqno=galera.gcache_frozen_at,
        )
        return Judgement(synced, Health.WARN, text)
    if Lack.NOT_CONNECTED in missing:
        text = tr("{name} is Synced but not connected to a group: it refuses queries", name=node.name)
        return Judgement(synced, Health.WARN, text)
    if Lack.NOT_READY in missing:
        return Judgement(synced, Health.WARN, tr("{name} is Synced but not ready: it refuses queries", name=node.name))
    if Lack.SUSPECT in missing:
        why = node.why("galera") or tr("the Galera provider's answers cannot be trusted")
        return Judgement(synced, Health.WARN, why)
    if Lack.SLOWS in missing:
        text = tr(
            "{n} write sets wait on {name}: it slows down the group (limit {limit:.0f})",
            n=number(galera.recv_queue or 0),
            name=node.name,
            limit=galera.flow_control_high or 0.0,
        )
        return Judgement(synced, Health.WARN, text)
    return Judgement(synced, Health.GOOD)
