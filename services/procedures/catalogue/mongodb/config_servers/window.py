"""The way with a window: everything that uses the config servers is down while the set is made.

MongoDB manual 3.2, "Upgrade Config Servers to Replica Set", the way with downtime; tried on 3.2.5. Every mongos is
down, the shards stay up and idle, and go over to the set by themselves (shards.py). Each config server gets a new data
folder beside its old one, which nobody touches: the first a copy of its own, the others an empty one that the set
fills. Until the first mongos starts with the set's name all is taken back: the old servers start on their old folders,
and what went over of the shards starts again.
"""

from __future__ import annotations

from dataclasses import replace

from services.connections.operator import folders_of_others
from services.procedures.catalogue.mongodb.config_servers.common import (
    START_S,
    as_it_was,
    catalog_after,
    catalog_before,
    is_down,
    known_cluster,
    known_shards,
    new_string_step,
    others_step,
    rests_step,
    same_step,
    shards_step,
    stop_step,
    waits,
)
from services.procedures.catalogue.mongodb.config_servers.copying import (
    copied_step,
    copy_steps,
    nothing_there,
    scratch_compared,
    scratch_down,
)
from services.procedures.catalogue.mongodb.config_servers.edits import (
    FOLDER,
    PORT,
    SET,
    folder_of,
    old_string,
    runs_with,
    set_up,
)
from services.procedures.catalogue.mongodb.config_servers.folders import folders_of_copy, part_of
from services.procedures.catalogue.mongodb.config_servers.member import add_step
from services.procedures.catalogue.mongodb.config_servers.party import Party
from services.procedures.catalogue.mongodb.config_servers.rolling import CHANGE_S, SYNC_S, initiate_step
from services.procedures.catalogue.mongodb.config_servers.room import room_wanted
from services.procedures.catalogue.mongodb.config_servers.shards import (
    LED_LIMIT_S,
    led_for_good,
    mirrored_steps,
    mirrored_still,
)
from services.procedures.catalogue.steps.server import systemctl
from services.procedures.conditions.config_servers.form import ConfigServerIs
from services.procedures.conditions.config_servers.metadata import MetadataSame
from services.procedures.conditions.config_servers.no_router import NoRouterRuns
from services.procedures.conditions.config_servers.spare_folder import SpareFolder
from services.procedures.conditions.config_servers.unchanged import CatalogNoted, CatalogUnchanged, ChangesKept
from services.procedures.conditions.config_servers.uses import RoutersUse, StartedWith
from services.procedures.conditions.machine.nothing_left import NothingLeft, Swept
from services.procedures.conditions.machine.there import FolderEmpty
from services.procedures.conditions.machine.yaml_setting import SettingIs
from services.procedures.conditions.mongodb.whole import SetWhole
from services.procedures.plan.actions import Ask, RestoreFile, Run, Several
from services.procedures.plan.condition import Condition
from services.procedures.plan.model import Consent, Risk, Step, Undo, WatchRule

_STILL_S, _STOPS_S = 10.0, 60.0
_CHANGES = "goes-on-with-changes"


def window_steps(party: Party) -> tuple[Step, ...]:
    """Return all steps but those around the balancer."""
    made = {host: (party.new_data(host), part_of(party.new_data(host))) for host in party.servers}
    return (
        nothing_there(party, {**made, party.last: (*made[party.last], *folders_of_copy(party))}),
        catalog_before(party),
        rests_step("rests-before", party),
        *(_router_down(party, router) for router in party.routers),
        *mirrored_steps(party),
        *copy_steps(party, party.servers[:-1]),
        *(_router_stays_down(party, router) for router in party.routers),
        _noted(party),
        *(_mirror_down(party, host) for host in party.servers),
        _first_data(party),
        _set_up(party, party.first, ()),
        _initiated(party),
        waits(
            "leads",
            (SetWhole((party.first,), primary=party.first), ConfigServerIs(party.first, "set", party.name)),
            f"{party.first} to be primary of {party.name}",
            f"{party.first} is primary of {party.name}",
            CHANGE_S,
        ),
        *(step for number, host in enumerate(party.servers[1:], 1) for step in _joined(party, host, number)),
        waits(
            "followed",
            (SetWhole(party.servers, primary=party.first),),
            "every member to have the data",
            "Every member has the data",
            SYNC_S,
        ),
        same_step("same-copied", party.servers),
        _known_changes(party),
        _compared(party),
        scratch_down(party),
        *_routers(party),
        others_step(party),
        shards_step(party),
        same_step("same-after", party.servers),
    )


def _router_down(party: Party, router: str) -> Step:
    why = "Without a mongos the catalog cannot change. The window begins: clients cannot read or write."
    back = (RoutersUse((router,), ""), StartedWith(router, party.string))
    step, first = stop_step(party, router, why, back), router == party.routers[0]
    assert step.undo is not None
    # A colleague may have given it the set's string, and started it: a start would leave it as it runs.
    again = Several((old_string(party, router), systemctl("restart", party.unit(router))))
    step = replace(
        step,
        # One that does not come back keeps no other mongos from its clients.
        undo=replace(
            step.undo,
            action=again,
            alone=True,
            loses=mirrored_still(party) if first else (),
            waits=led_for_good(party),
            waits_s=LED_LIMIT_S,
        ),
        interrupts=f"the run stopped the mongos of {router}: clients cannot read or write through it until it starts",
    )
    return replace(step, before=known_cluster(party)) if first else step


def _router_stays_down(party: Party, router: str) -> Step:
    """Return the last look at a mongos before the config servers are stopped.

    Taken back, the mirrors are up again and the shards' members are not: a mongos that was started meanwhile uses the
    set that is gone, and a member that is started again beside it goes over to that once more, for good (3.2.5).
    """
    down = (is_down(party, router),)
    step = waits(
        f"{router}:stays-down",
        down,
        f"the mongos of {router} to be still stopped",
        f"The mongos of {router} is still stopped",
        _STILL_S,
    )
    undo = Undo(
        f"Stop the mongos of {router} if it was started",
        systemctl("stop", party.unit(router)),
        proof=down,
        limit_s=_STOPS_S,
        alone=True,
    )
    return replace(step, host=router, why="The catalog does not change from here on.", undo=undo)


def _noted(party: Party) -> Step:
    """Return the step that keeps what the metadata are: what a mongos changes in the set is told by it."""
    return waits(
        "noted",
        (CatalogNoted(party.first),),
        f"the metadata of {party.first} to be recorded",
        f"The metadata of {party.first} are recorded",
        CHANGE_S,
    )


def _unchanged(party: Party) -> CatalogUnchanged:
    return CatalogUnchanged(party.first, "initiate")


def _none_runs(party: Party) -> NoRouterRuns:
    return NoRouterRuns(party.routers, tuple(map(party.unit, party.routers)))


def window_watches(party: Party) -> tuple[WatchRule, ...]:
    """Return what is watched while no mongos may run."""
    rule = WatchRule(
        code="NO-MONGOS",
        condition=_none_runs(party),
        sentence=f"A mongos was started while {party.name} is created: changes through it may exist only in "
        f"{party.name} and are lost if the run is rolled back. Stop it and check what was changed.",
        from_step=f"{party.first}:down",
        to_step="scratch-down",
    )
    return (rule,)


def _known_changes(party: Party) -> Step:
    """Return the question whether the run goes on with what somebody changed in the set; of nothing none is asked."""
    return Step(
        step_id="changes",
        host="",
        title=f"Verify that {party.name} was not changed since its creation",
        done=f"{party.name} continues with the changes made to it",
        why="A mongos that was started meanwhile changes only the set: continuing keeps these changes, a rollback "
        "loses them.",
        action=Ask(f"Continue with the current content of {party.name}?", keep=_CHANGES),
        risk=Risk.YOU,
        already=(_unchanged(party),),
        limit_s=START_S,
        repeatable=True,
    )


def _compared(party: Party) -> Step:
    """Return the last look before the point of no return: at the metadata, and that nobody serves.

    Where a person goes on with what was changed meanwhile the copy is not that of the set, and nothing is to compare.
    """
    step = scratch_compared(party, party.first, "set")
    return replace(step, before=(*step.before, _none_runs(party)), already=(ChangesKept(party.first, _CHANGES),))


def _mirror_down(party: Party, host: str) -> Step:
    step = stop_step(party, host, "Its data folder stays unchanged, for a rollback.", as_it_was(party, host))
    if host != party.first or step.undo is None:
        return step
    undo = replace(step.undo, loses=(MetadataSame(party.servers),))  # the last one to come back
    # A shard that is none of the plan would go over to the set too, and be brought back by no undo.
    still = (_none_runs(party), *known_shards(party, host), *room_wanted(party, window_only=True))
    return replace(step, before=still, undo=undo)


def _first_data(party: Party) -> Step:
    host, new = party.first, party.new_data(party.first)
    step = copied_step(party, host, new, "the metadata, for the set")
    return replace(
        step,
        why="The set uses a separate folder; the old one stays unchanged.",
        undo=Undo(
            f"Remove {new} on {host}",
            Run(folders_of_others.removed(party.account(host), new, part_of(new))),
            before=(_spare(party, host),),
            leaves=(NothingLeft(host, new), NothingLeft(host, part_of(new))),
        ),
    )


def _spare(party: Party, host: str) -> SpareFolder:
    down = is_down(party, host)
    return SpareFolder(host, down.unit, down.but, party.path(host), folder_of(party, host))


def _initiated(party: Party) -> Step:
    host = party.first
    step = initiate_step(party, host, before=(ConfigServerIs(host, "new"),))
    return replace(step, undo=None, goes_with=f"{host}:set-up", why="Rolling back the folder removes it.")


def _set_up(party: Party, host: str, before: tuple[Condition, ...]) -> Step:
    """Return the step that starts a config server on its new folder, for the set."""
    unit, path, new = party.unit(host), party.path(host), party.new_data(host)
    edit, port, name = set_up(party, host), (PORT, str(party.port)), f"{host}:set-up"
    first = host == party.first
    account = party.account(host)
    made = () if first else (Run(folders_of_others.made(new, account)),)
    left = () if first else (NothingLeft(host, new),)
    swept = () if first else (Swept(host, new),)  # killed right behind the folder, it is stopped with its old file
    gone = () if first else (Run(folders_of_others.removed(account, new)),)
    return Step(
        step_id=name,
        host=host,
        title=f"Start the config server of {host} on {new}, for {party.name}",
        done=f"The config server of {host} runs on {new}",
        action=Several((*made, edit, systemctl("start", unit))),
        risk=Risk.CHANGES,
        before=(*before, is_down(party, host)),
        already=(ConfigServerIs(host, "new"),),
        proof=(
            ConfigServerIs(host, "new"),
            runs_with(party, host, (FOLDER, new), (SET, party.name), port, since=name),
        ),
        limit_s=START_S,
        repeatable=True,
        undo=Undo(
            f"Stop it and restore the configuration of {host}",
            Several((systemctl("stop", unit), RestoreFile(path), *gone)),
            proof=(
                is_down(party, host),
                SettingIs(host, path, FOLDER, str(party.process(host).setting(FOLDER))),
                *swept,
            ),
            limit_s=START_S,
            leaves=left,
            consent=_nothing_changed(party),
        ),
        estimate_s=5.0,
    )


def _nothing_changed(party: Party) -> Consent:
    """With the set goes what a mongos changed in it: asked before any of its members is stopped, so that the run can
    still go on."""
    return Consent(
        unless=(_none_runs(party), _unchanged(party)),
        question=f"A mongos that is started now switches to {party.name} automatically: changes through it since then "
        f"exist only in {party.name} and are lost with it: new databases and collections, and the location of their "
        "rows; the rows themselves stay on their shard. Roll back anyway?",
        expect=party.first,
        first=True,
    )


def _joined(party: Party, host: str, number: int) -> tuple[Step, Step, Step]:
    """Return the steps that start one of the others with an empty folder, and make it a member."""
    empty: tuple[Condition, ...] = (FolderEmpty(host, party.new_data(host), absent=True),)
    so_far = party.servers[:number]
    add = add_step(party, host, number, f"{party.first}:set-up", votes=True)
    follow = waits(
        f"{host}:followed",
        (SetWhole((*so_far, host), primary=party.first),),
        f"{host} to have the data",
        f"{host} has the data",
        SYNC_S,
    )
    return _set_up(party, host, empty), add, follow


def _routers(party: Party) -> tuple[Step, ...]:
    """Return the steps that start every mongos with the set's name: the first is the point of no return."""
    first, *others = party.routers
    until = "same-after"
    begun = new_string_step(party, first, until)
    begun = replace(
        begun,
        resumes=f"{first}:down",
        title=f"Start {first} with {party.new_string}: the window ends",
        why="From here on the catalog changes only in the set. There is no easy way back.",
        risk=Risk.IRREVERSIBLE,
        before=(SetWhole(party.servers), MetadataSame(party.servers)),
        confirm=first,
        beside=(_unchanged(party),),  # changed since the last look: going on keeps it
        no_return=True,
    )
    nothing = "There is nothing to undo."
    return (
        begun,
        catalog_after(party, first, until),
        *(replace(new_string_step(party, one, until), why=nothing, resumes=f"{one}:down") for one in others),
        *(catalog_after(party, one, until) for one in others),
    )
