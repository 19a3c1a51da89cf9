"""The rolling way: the first config server becomes a set that is still mirrored, grows, and takes over.

MongoDB manual 3.2, "Upgrade Config Servers to Replica Set"; tried step by step on 3.2.5 (resources/docs/procedures.md).
Data are read and written all the time. The catalog takes no change from the stop of the last mirror until the first
config server is back without sccc mode; from then on there is no easy way back, and a name has to be typed for it.
"""

from __future__ import annotations

from dataclasses import replace

from services.connections.mongo.change import CLEARS_SETS, Documents, SetChange, command, fields
from services.procedures.catalogue.mongodb.config_servers.common import (
    START_S,
    alone,
    as_it_was,
    catalog_after,
    catalog_before,
    catalog_steps,
    is_down,
    known_cluster,
    known_shards,
    new_string_step,
    others_step,
    rests_step,
    root,
    same_step,
    shards_step,
    stop_step,
    waits,
)
from services.procedures.catalogue.mongodb.config_servers.copying import (
    copy_steps,
    nothing_there,
    scratch_down,
)
from services.procedures.catalogue.mongodb.config_servers.edits import (
    FOLDER,
    MODE,
    SET,
    folder_of,
    mirrored_set,
    no_mode,
    runs_with,
)
from services.procedures.catalogue.mongodb.config_servers.folders import folders_of_copy
from services.procedures.catalogue.mongodb.config_servers.member import add_step, up_step
from services.procedures.catalogue.mongodb.config_servers.party import Party
from services.procedures.catalogue.mongodb.shared.balancing import switched
from services.procedures.catalogue.steps.server import systemctl
from services.procedures.conditions.config_servers.configured import AllVote, SetLies
from services.procedures.conditions.config_servers.form import ConfigServerIs
from services.procedures.conditions.config_servers.metadata import MetadataSame
from services.procedures.conditions.machine.unit import UnitNotEnabled
from services.procedures.conditions.machine.yaml_setting import SettingIs
from services.procedures.conditions.mongodb.stepped_down import AnotherLeads
from services.procedures.conditions.mongodb.whole import SetWhole
from services.procedures.plan.actions import Ask, Mongo, Reconfigure, RestoreFile, Several
from services.procedures.plan.model import Later, Risk, Step, Undo

SYNC_S, ELECTION_S, CHANGE_S = 1800.0, 90.0, 60.0
STAYS = (
    "After a rollback this remains in local.system.replset: no built-in role can remove it. The server warns about "
    f"it at each start and works. With {CLEARS_SETS}, the undo removes it."
)
STEP_DOWN_S = 600
"""So long the first config server is not elected again while it restarts (changed so after SERVER-23249)."""


def rolling_steps(party: Party) -> tuple[Step, ...]:
    """Return all steps but those around the balancer."""
    everyone = (*party.servers, *party.new)
    version, goes = 1, f"{party.first}:mirrored-set"
    joins: list[Step] = []
    for host in party.new:
        joins += (up_step(party, host), add_step(party, host, version, goes, votes=False))
        version += 1
    return (
        nothing_there(party, {party.last: folders_of_copy(party)}),
        catalog_before(party),
        rests_step("rests-before", party),
        *copy_steps(party, party.servers[:-1]),
        scratch_down(party),
        initiate_step(party, party.first, before=(alone(party.first),)),
        _mirrored_set(party),
        *catalog_steps(party, "mirrored", party.routers),
        *joins,
        waits(
            "followed",
            (SetWhole(party.members, primary=party.first),),
            "every new member to have the data",
            "Every new member has the data",
            SYNC_S,
        ),
        rests_step("rests-behind", party),
        same_step("same-copied", everyone),
        _asked(party),
        _mirror_down(party),
        _votes(party, version),
        _step_down(party),
        _converted(party),
        *_routers(party),
        others_step(party),
        shards_step(party),
        *(_removed(party, version + 1) if party.leaves else ()),
        *(_retired(party, host) for host in _leaving(party)),
        same_step("same-after", party.lasting),
    )


def initiate_step(party: Party, host: str, before: tuple[ConfigServerIs, ...]) -> Step:
    """Return the step that writes the set's first configuration: accepted also without --replSet (tried on 3.2.5).

    MongoDB manual, "replSetInitiate"; without `configsvr` the set could never hold a cluster's metadata.
    """
    member = fields(_id=0, host=party.place(host))
    document = fields(_id=party.name, configsvr=True, version=1, members=Documents((member,)))
    gone = fields(q=fields(_id=party.name), limit=1)
    undo = Undo(
        f"Remove the configuration of {party.name} from the data of {host}",
        Mongo(command("local", delete="system.replset", deletes=Documents((gone,)))),
        proof=(SetLies(host, ""),),
    )
    return Step(
        step_id="initiate",
        host=host,
        title=f"Create the set {party.name} from {host} alone",
        done=f"The configuration of {party.name} is in the data of {host}",
        action=Mongo(command("admin", replSetInitiate=document)),
        before=before,
        already=(SetLies(host, party.name),),
        proof=(SetLies(host, party.name),),
        limit_s=CHANGE_S,
        repeatable=True,
        undo=undo if party.clears else None,
        why="" if party.clears else STAYS,
        estimate_s=1.0,
    )


def _mirrored_set(party: Party) -> Step:
    host, unit, path = party.first, party.unit(party.first), party.path(party.first)
    on = folder_of(party, host)
    edit, name = mirrored_set(party), f"{host}:mirrored-set"
    restart = systemctl("restart", unit)
    proof = (
        SettingIs(host, path, MODE, "sccc"),
        runs_with(party, host, (FOLDER, on), (SET, party.name), (MODE, "sccc"), since=name),
        ConfigServerIs(host, "mirrored-set", party.name),
        SetWhole((host,), primary=host),
    )
    return Step(
        step_id=name,
        host=host,
        title=f"Restart {host} as the set {party.name}, still mirrored",
        done=f"{host} is the set {party.name}, still mirrored",
        why="Clients read and write throughout; for some seconds a mongos refuses changes to the catalog.",
        action=Several((edit, restart)),
        risk=Risk.NODE_DOWN,
        before=(SetLies(host, party.name), MetadataSame(party.servers), switched(party.routers, on=False)),
        proof=proof,
        limit_s=START_S,
        repeatable=True,
        undo=Undo(
            f"Restore the configuration of {host} and restart it",
            Several((RestoreFile(path), restart)),
            proof=(SettingIs(host, path, SET, ""), *as_it_was(party, host)),
            limit_s=START_S,
            loses=(MetadataSame(party.servers),),  # the last of the mirrors to come back
        ),
        moves=host,
        settles=(host,),
        estimate_s=5.0,
    )


def _asked(party: Party) -> Step:
    return Step(
        step_id="read-only",
        host="",
        title="Ask whether the catalog can be read-only now",
        done="You confirmed that the catalog can be read-only",
        action=Ask(
            f"From the stop of {party.last} until {party.first} is converted, about a minute, nobody can create or "
            "drop a database, or shard a collection. Is this acceptable now?",
            unattended="yes",
        ),
        risk=Risk.YOU,
        limit_s=8 * 3600.0,
        repeatable=True,
    )


def _mirror_down(party: Party) -> Step:
    why = "From here on the catalog is read-only: the set has the same content as every mirror."
    off = switched(party.routers, on=False)
    return replace(stop_step(party, party.last, why, as_it_was(party, party.last)), before=(*known_cluster(party), off))


def _votes(party: Party, version: int) -> Step:
    """Where the first one leaves in the end, the first new member is to lead: it makes the change that removes it."""
    settings = [
        (f"members.{number}.{what}", 1) for number in range(len(party.members)) for what in ("priority", "votes")
    ]
    if party.leaves:
        settings = [(where, 2 if where == "members.1.priority" else value) for where, value in settings]
    return Step(
        step_id="votes",
        host=party.first,
        title="Give every member a vote",
        done="Every member votes and can become primary",
        why="Rolling back the set undoes this.",
        action=Reconfigure(SetChange(version, tuple(settings))),
        before=(SetWhole(party.members, primary=party.first),),
        already=(AllVote(party.members),),
        proof=(AllVote(party.members),),
        limit_s=CHANGE_S,
        repeatable=True,
        goes_with=f"{party.first}:mirrored-set",
        estimate_s=3.0,
    )


def _step_down(party: Party) -> Step:
    host = party.first
    leads = (AnotherLeads(party.members, host),)
    return Step(
        step_id="step-down",
        host=host,
        title=f"Let {host} step down for {STEP_DOWN_S // 60} minutes",
        done=f"A new member is primary of {party.name}",
        why="It closes all of its connections. It is not elected during its restart. Rolling back the set undoes this.",
        action=Mongo(command("admin", replSetStepDown=STEP_DOWN_S, secondaryCatchUpPeriodSecs=30)),
        before=(SetWhole(party.members, primary=host), MetadataSame((host, *party.new))),
        already=leads,
        proof=leads,
        limit_s=ELECTION_S,
        repeatable=True,
        goes_with=f"{party.first}:mirrored-set",
        estimate_s=12.0,
    )


def _converted(party: Party) -> Step:
    host, unit, path = party.first, party.unit(party.first), party.path(party.first)
    edit, name = no_mode(party), f"{host}:converted"
    runs = runs_with(party, host, (SET, party.name), (MODE, ""), since=name)
    whole = (SetWhole(party.lasting, leaving=party.leaving),)
    form = ConfigServerIs(host, "removed" if party.leaves else "set", party.name)
    return Step(
        step_id=name,
        host=host,
        title=f"Restart {host} without sccc mode: the config servers are the set {party.name}",
        done=f"The config servers are the set {party.name}",
        why="From here on a mongos switches to the set automatically. There is no easy way back: the mirrors no "
        "longer take part in catalog changes.",
        action=Several((edit, systemctl("restart", unit))),
        risk=Risk.IRREVERSIBLE,
        # Not of the first one itself, which had all of it before it stepped down: a second try finds it stopped.
        before=(
            AnotherLeads(party.new, host),
            MetadataSame(party.new),
            is_down(party, party.last),
            *known_shards(party, party.new[0]),  # one may have come right before the catalog was read-only
        ),
        proof=(SettingIs(host, path, MODE, ""), runs, form, *whole),
        limit_s=START_S,
        repeatable=True,
        moves=host,
        settles=(host,),
        confirm=host,
        no_return=True,
        later=Later(
            "shards",  # tried on 3.2.5: a shard goes over once it sees the first server again, and no mongos makes it
            (SetWhole(party.new, leaving=party.place(host)),),
            f"{', '.join(party.new)} serve as {party.name}; the catalog accepts changes again through each mongos with "
            f"the new string; until {host} is back, the shards split and move no chunks",
        ),
        estimate_s=10.0,
    )


def _routers(party: Party) -> tuple[Step, ...]:
    """Return the steps that give each mongos the set's string, before any old mirror goes.

    Each has gone over to the set by itself some seconds after the first server came back; where that one does not come
    back they have not, and the new string is what makes them.
    """
    until = f"{_leaving(party)[0]}:retired"
    pairs = ((new_string_step(party, one, until), catalog_after(party, one, until)) for one in party.routers)
    return tuple(step for pair in pairs for step in pair)


def _leaving(party: Party) -> tuple[str, ...]:
    return tuple(host for host in party.servers if host not in party.lasting)


def _removed(party: Party, version: int) -> tuple[Step, Step]:
    lead = party.new[0]
    leads = waits(
        "leads",
        (SetWhole(party.lasting, primary=lead, leaving=party.leaving),),
        f"{lead}, which has the higher priority, to be primary",
        f"{lead} is primary of {party.name}",
        SYNC_S,
    )
    removed = Step(
        step_id=f"{party.first}:removed",
        host=lead,
        title=f"Remove {party.first}, which uses MMAPv1, from {party.name}",
        done=f"{party.first} is no longer a member of {party.name}",
        why="A config replica set does not allow MMAPv1: the server itself reported this (REMOVED).",
        action=Reconfigure(SetChange(version, removes=(0,))),
        before=(SetWhole(party.lasting, primary=lead, leaving=party.leaving),),
        already=(AllVote(party.lasting),),
        proof=(AllVote(party.lasting),),
        limit_s=CHANGE_S,
        repeatable=True,
        estimate_s=3.0,
    )
    return leads, removed


def _retired(party: Party, host: str) -> Step:
    """Stop an old mirror and keep it from coming back with the host: its data stay."""
    unit = party.unit(host)
    return replace(
        stop_step(party, host, "", ()),
        step_id=f"{host}:retired",
        title=f"Stop the old config server of {host} and disable its start at boot",
        done=f"The old config server of {host} is no longer used",
        why="Nothing uses it any more. Its data are not removed: keep them for a week.",
        action=Several((root("systemctl", "disable", unit), root("systemctl", "stop", unit))),
        proof=(is_down(party, host), UnitNotEnabled(host, unit)),
        undo=None,
        final=True,
    )
