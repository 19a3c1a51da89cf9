"""The steps of mongo-protocol-upgrade for one set: the change, its first entries, a write by the majority."""

from __future__ import annotations

from services.connections.mongo.change import Documents, MongoCommand, SetChange, command, fields
from services.moments import duration
from services.procedures.catalogue.mongodb.shared.sets import GatheredSet
from services.procedures.conditions.mongodb.database import NoDatabase
from services.procedures.conditions.mongodb.protocol import NobodyElected, OptimesOf, ProtocolIs
from services.procedures.conditions.mongodb.steady import SetSteady
from services.procedures.conditions.mongodb.whole import SetWhole
from services.procedures.plan.actions import AtPrimary, Mongo, Reconfigure, WaitFor
from services.procedures.plan.model import Consent, Risk, Step, Undo

CHANGE_LIMIT_S, WRITE_LIMIT_S = 60.0, 30.0
MORE_S = 600.0


def set_steps(one: GatheredSet, scratch: str) -> tuple[Step, ...]:
    """Return the steps for one set, in order.

    Args:
        scratch: the database that is made for the write by the majority (scratch.py).
    """
    return (_change(one), _entries(one), _majority(one, scratch))


def steady_step(sets: tuple[GatheredSet, ...], for_s: float) -> Step:
    """Return the wait at the end: every set stays whole."""
    return Step(
        step_id="steady",
        host="",
        title=f"Verify that every set stays healthy for {duration(for_s)}",
        done="Every set stayed healthy",
        action=WaitFor(
            tuple(SetSteady(one.hosts, for_s) for one in sets), "every set to stay healthy, without another election"
        ),
        risk=Risk.READS,
        limit_s=for_s + MORE_S,
        repeatable=True,
        estimate_s=for_s,
    )


def _change(one: GatheredSet) -> Step:
    version = one.view.version or 0
    hosts, primary = one.hosts, one.primary
    return Step(
        step_id=f"protocol-{one.name}",
        host=primary,
        title=f"Set protocolVersion 1 in the configuration of {one.name}",
        done=f"{one.name} runs protocolVersion 1",
        why="The primary sends it to all members. It may step down and closes its clients' connections: "
        "treat it as a failover (tested on 3.2: no election, no client error).",
        action=Reconfigure(SetChange(version, (("protocolVersion", 1),))),
        before=(SetWhole(hosts, primary=primary),),
        already=(ProtocolIs(hosts, 1),),
        proof=(ProtocolIs(hosts, 1),),
        limit_s=CHANGE_LIMIT_S,
        repeatable=True,
        undo=Undo(
            f"Set protocolVersion 0 in the configuration of {one.name} again",
            AtPrimary(hosts, (Reconfigure(SetChange(version + 1, (("protocolVersion", 0),), newer=True)),)),
            proof=(ProtocolIs(hosts, 0),),
            limit_s=CHANGE_LIMIT_S,
            before=(SetWhole(hosts), OptimesOf(hosts, 1)),
            consent=_not_before_synced_anew(one),
        ),
        estimate_s=5.0,
    )


def _not_before_synced_anew(one: GatheredSet) -> Consent:
    """Once somebody was elected by terms, 1 is the safe end: see TERMS-BEFORE."""
    return Consent(
        unless=(NobodyElected(one.hosts),),
        question=f"After a return to protocolVersion 0, {one.name} cannot be moved to 1 again until each member is "
        "resynced. Roll back anyway?",
        expect=one.name,
        otherwise=f"{one.name} stays at protocolVersion 1: members were elected by terms, or this is not known. "
        "This works; after a return to 0 it could not be moved to 1 again until each member is resynced",
    )


def _entries(one: GatheredSet) -> Step:
    late = float(max((m.delay_s for m in one.view.members if m.delay_s and m.delay_s > 0), default=0))
    return Step(
        step_id=f"entries-{one.name}",
        host="",
        title=f"Wait until every member of {one.name} has applied an entry of the new protocol",
        done=f"Every member of {one.name} has applied an entry of the new protocol",
        action=WaitFor((OptimesOf(one.hosts, 1),), f"entries with a term on every member of {one.name}"),
        risk=Risk.READS,
        limit_s=CHANGE_LIMIT_S + late,
        repeatable=True,
        estimate_s=2.0 + late,
    )


def _majority(one: GatheredSet, scratch: str) -> Step:
    """Whoever leads takes it: the change may have made the primary step down, and an undo comes later still."""
    drop = Mongo(command(scratch, dropDatabase=1))
    data = tuple(host for host in one.hosts if (own := one.own(host)) is None or not own.arbiter)
    gone = tuple(NoDatabase(host, scratch) for host in data)
    return Step(
        step_id=f"majority-{one.name}",
        host=one.primary,
        title=f'Write a document with w: "majority" on {one.name}, then drop it',
        done=f'{one.name} accepted a write with w: "majority"',
        why=f"A database {scratch} is created and dropped in this step; a sharded cluster does not see it.",
        action=AtPrimary(data, (Mongo(_write(scratch)), drop)),
        before=(SetWhole(one.hosts),),
        proof=gone,
        limit_s=WRITE_LIMIT_S,
        repeatable=True,
        undo=Undo(
            f"Drop the database {scratch} of {one.name} if it still exists", AtPrimary(data, (drop,)), proof=gone
        ),
        estimate_s=1.0,
    )


def _write(scratch: str) -> MongoCommand:
    """MongoDB manual, "insert" and "Write Concern": wtimeout in milliseconds, without it the server waits for ever."""
    return command(
        scratch,
        insert="written",
        documents=Documents((fields(by="Pilothouse"),)),
        writeConcern=fields(w="majority", wtimeout=int(WRITE_LIMIT_S * 500)),
    )
