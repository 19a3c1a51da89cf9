"""Steps that both ways are made of: stop and start a server, copy and try the metadata, try the catalog, the mongos."""

from __future__ import annotations

from dataclasses import replace

from services.connections.command import Command
from services.connections.mongo.change import MongoCommand, command
from services.procedures.catalogue.mongodb.config_servers.edits import as_before, new_string
from services.procedures.catalogue.mongodb.config_servers.party import ROLLING, Party
from services.procedures.catalogue.mongodb.shared.balancing import at_rest
from services.procedures.catalogue.mongodb.shared.sets import listed_by, names_of
from services.procedures.catalogue.steps.server import systemctl
from services.procedures.conditions.config_servers.form import ConfigServerIs
from services.procedures.conditions.config_servers.metadata import MetadataSame
from services.procedures.conditions.config_servers.strangers import NoOtherRouter, NoOtherShard, OthersSeenTo
from services.procedures.conditions.config_servers.uses import RoutersUse, ShardsUse, StartedWith
from services.procedures.conditions.machine.yaml_setting import SettingIs
from services.procedures.conditions.mongodb.database import NoDatabase
from services.procedures.conditions.mongodb.stopped import MongoStopped
from services.procedures.plan.actions import Ask, Mongo, Run, Several, WaitFor
from services.procedures.plan.condition import Condition
from services.procedures.plan.model import Later, Risk, Step, Undo

STOP_S, START_S, CATALOG_S, SAME_S, SHARDS_S = 180.0, 180.0, 180.0, 45.0, 1800.0
SCRATCH_UNIT = "pilothouse-config-trial.service"
_OTHERS = "goes-on-with-others"
_ANEW = "roll the run back and make a new plan with its members in the inventory"
AGAIN_S = 90.0
"""A mongos finds restarted config servers again in about 3 s (tried on 3.2.5): it is given more."""


def root(*argv: str, ok: tuple[int, ...] = (0,)) -> Run:
    """Return a command as root."""
    return Run(Command(argv, sudo=True), ok=ok)


def waits(step_id: str, conditions: tuple[Condition, ...], what: str, done: str, limit_s: float) -> Step:
    """Return a step that only waits."""
    return Step(
        step_id=step_id,
        host="",
        title=f"Wait for {what}",
        done=done,
        action=WaitFor(conditions, what),
        risk=Risk.READS,
        limit_s=limit_s,
        repeatable=True,
        estimate_s=5.0,
    )


def same_step(step_id: str, hosts: tuple[str, ...]) -> Step:
    """Return the step that compares the metadata of these config servers."""
    return waits(
        step_id,
        (MetadataSame(hosts),),
        f"the same metadata on {', '.join(hosts)}",
        f"{', '.join(hosts)} have the same metadata",
        SAME_S,
    )


def rests_step(step_id: str, party: Party) -> Step:
    """Return the step that waits until no chunk moves and none will: a move that ends while a config server is away
    can't be written down. A colleague may have switched the balancer on since, or moves a chunk by hand.

    It is looked at again before the point of no return. By then no mongos tells: by the rolling way it asks the first
    config server, which has stepped down (13435, seen on 3.2.5), by the window none runs. A config server does.
    """
    return waits(
        step_id,
        at_rest(party.routers, party.servers),
        "the balancer to be off and no chunk migration to run",
        "The balancer is off and no chunk migration runs",
        SHARDS_S,
    )


def stop_step(party: Party, host: str, why: str, back: tuple[Condition, ...], prefix: str = "") -> Step:
    """Return the step that stops a server; its undo starts it as it was."""
    unit = party.unit(host)
    return Step(
        step_id=f"{host}:{prefix}down",
        host=host,
        title=f"Stop the server of {host}",
        done=f"The server of {host} is stopped",
        why=why,
        action=systemctl("stop", unit, "--no-block"),
        risk=Risk.NODE_DOWN,
        proof=(is_down(party, host),),
        limit_s=STOP_S,
        repeatable=True,
        undo=Undo(f"Start the server of {host} again", systemctl("start", unit), back, START_S),
        estimate_s=5.0,
    )


def start_step(party: Party, host: str, proof: tuple[Condition, ...]) -> Step:
    """Return the step that starts a server as it was."""
    return Step(
        step_id=f"{host}:back",
        host=host,
        title=f"Start the server of {host} again, as before",
        done=f"The server of {host} runs again, as before",
        why="It is in the state before the run: there is nothing to undo.",
        action=systemctl("start", party.unit(host)),
        proof=proof,
        limit_s=START_S,
        repeatable=True,
        estimate_s=5.0,
    )


def is_down(party: Party, host: str) -> MongoStopped:
    """Return that a server is stopped, whatever becomes of the scratch server beside it."""
    return MongoStopped(host, party.unit(host), SCRATCH_UNIT if host == party.last else "")


def known_cluster(party: Party) -> tuple[Condition, ...]:
    """Return that no mongos and no shard came since the plan was made, while all can be taken back.

    A mongos would be left with the old string, and fail later. Of a shard no check has seen the version and the
    protocol, and what the plan does for each shard is not done for it.
    """
    return (NoOtherRouter(party.first, _routers_names(party)), *known_shards(party, party.first))


def known_shards(party: Party, host: str) -> tuple[Condition, ...]:
    """Return the half of it that another config server may tell too."""
    shards = _shards_names(party)
    return (NoOtherShard(host, shards, _ANEW),) if shards else ()


def _routers_names(party: Party) -> tuple[str, ...]:
    return tuple(name for host in party.routers for name in names_of(party.facts.host(host)))


def _shards_names(party: Party) -> tuple[str, ...]:
    return tuple(one.name for one in listed_by(party.facts) or ())


def nobody_came(party: Party) -> tuple[Condition, ...]:
    """Return that there are no other mongos and shards than those of the plan, as each member of the set has it, or
    that somebody said of them that they use the set (others_step): the run has no way to them.

    A member that is behind the others may not have it yet, so that each is asked.
    """
    then = f", remove {party.first} from {party.name}" if party.leaves else ""
    then += ", and stop and disable the old config servers yourself" if party.way == ROLLING else ""
    router = f"stop it until the run has ended; or leave the run once it uses {party.name}/ (see getShardMap){then}"
    shard = f"leave the run once its primary uses {party.name}/, or none yet (see shardingState){then}"
    names, shards = _routers_names(party), _shards_names(party)
    return (
        *(NoOtherRouter(host, names, router, _OTHERS) for host in party.lasting),
        *(NoOtherShard(host, shards, shard, _OTHERS) for host in party.lasting if shards),
    )


def alone(host: str) -> ConfigServerIs:
    """Return that a config server is mirrored and in no set."""
    return ConfigServerIs(host, "alone")


def as_it_was(party: Party, host: str) -> tuple[Condition, ...]:
    """Return that a config server is mirrored, in no set, and runs on its own folder, as before the run."""
    return (alone(host), as_before(party, host))


# -- the catalog -------------------------------------------------------------------------------------------------------


def catalog_before(party: Party) -> Step:
    """Return the step that tries the catalog before anything is changed; its undo is the last of all such tries."""
    router = party.routers[0]
    step = _catalog(party, router, "before")
    drop, gone = _dropped(party), (NoDatabase(router, party.scratch),)
    undo = Undo(f"Drop the database {party.scratch} if it still exists", drop, proof=gone, limit_s=CATALOG_S)
    return replace(step, undo=undo)


def catalog_after(party: Party, router: str, until: str) -> Step:
    """Return the step that changes the catalog through a mongos that has the set's string."""
    return replace(
        catalog_steps(party, "converted", (router,))[0], later=put_off(router, until, f"{router}:new-string")
    )


def catalog_steps(party: Party, stage: str, routers: tuple[str, ...]) -> tuple[Step, ...]:
    """Return the steps that change the catalog through each mongos, and take the change back in the same step."""
    before = f"{party.routers[0]}:catalog-before"
    return tuple(replace(_catalog(party, router, stage), goes_with=before) for router in routers)


def _catalog(party: Party, router: str, stage: str) -> Step:
    drop = _dropped(party)
    return Step(
        step_id=f"{router}:catalog-{stage}",
        host=router,
        title=f"Change the catalog through {router}, and revert the change",
        done=f"The catalog accepts changes through {router}",
        why=f"A database {party.scratch} is created and dropped. Right after a restart of a config server a mongos "
        "refuses this for some seconds, so the run retries.",
        action=Several((drop, Mongo(_made(party), again_s=AGAIN_S), drop)),
        proof=(NoDatabase(router, party.scratch),),
        limit_s=CATALOG_S,
        repeatable=True,
        estimate_s=4.0,
    )


def _dropped(party: Party) -> Mongo:
    return Mongo(command(party.scratch, dropDatabase=1), again_s=AGAIN_S)


def _made(party: Party) -> MongoCommand:
    """MongoDB manual, "enableSharding": it writes one document into config.databases."""
    return command("admin", enableSharding=party.scratch)


# -- the mongos --------------------------------------------------------------------------------------------------------


def new_string_step(party: Party, router: str, until: str) -> Step:
    """Return the step that gives a mongos the set's string, for good.

    Args:
        until: the step before which it has to be done: a mongos that does not start keeps no other one waiting.
    """
    path, edit = party.path(router), new_string(party, router)
    return Step(
        step_id=f"{router}:new-string",
        host=router,
        title=f"Restart {router} with {party.new_string}",
        done=f"{router} runs with {party.new_string}",
        why="Its clients lose their connections once. The old string is no longer valid and is not restored.",
        action=Several((edit, systemctl("restart", party.unit(router)))),
        risk=Risk.NODE_DOWN,
        proof=(
            SettingIs(router, path, "sharding.configDB", party.new_string),
            StartedWith(router, party.new_string),
            RoutersUse((router,), party.name),
        ),
        limit_s=START_S,
        repeatable=True,
        estimate_s=5.0,
        later=put_off(router, until),
    )


def put_off(router: str, until: str, behind: str = "") -> Later:
    """Return that what is done at a mongos may wait where its host does not come back: the others serve."""
    return Later(until, (), f"{router} stays unchanged, and its clients use another mongos", behind)


def others_step(party: Party) -> Step:
    """Return the question about a mongos or a shard that came past the point of no return; of none nobody is asked.

    There is no plan anew by then, and a run that ended would leave the old config servers as they are: a person looks
    at what came, and the run goes on.
    """
    uses = f"Continue only once each of them uses {party.name}/, or no config servers yet, or is stopped"
    then = ": the old config servers are stopped next" if party.way == ROLLING else ""
    return Step(
        step_id="others",
        host="",
        title="Verify that no mongos or shard was added outside of the plan",
        done="No mongos or shard was added, or you confirmed each",
        why=f"The run cannot read one that was added later: only you can verify that it uses {party.name}.",
        action=Ask(f"{uses}{then}. Continue?", keep=_OTHERS),
        risk=Risk.YOU,
        already=(OthersSeenTo(party.lasting, _routers_names(party), _shards_names(party)),),
        limit_s=START_S,
        repeatable=True,
    )


def shards_step(party: Party) -> Step:
    """Return the step that waits until each shard uses the set: it learns of it from a mongos, by a request.

    Each shard is asked for itself: together, one without a primary would be passed over for the others' answers. And
    there is no other one, nor a mongos: both lists are read anew before each act that relies on it (last_look).
    """
    return waits(
        "shards",
        (*(ShardsUse(one.hosts, party.name) for one in party.shards), *nobody_came(party)),
        "every shard to use the new config servers",
        "Every shard uses the new config servers",
        SHARDS_S,
    )
