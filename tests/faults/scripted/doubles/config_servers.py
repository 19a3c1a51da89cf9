"""Doubles of the conditions of config servers: what they, mongos and shards are and use, and who came."""

from __future__ import annotations

from dataclasses import replace

from services.facts.yaml_files.settings import settings_of
from services.procedures.conditions.config_servers.configured import AllVote, SetLies
from services.procedures.conditions.config_servers.form import ConfigServerIs
from services.procedures.conditions.config_servers.gone_over import NeedNotHandOver, NotGoneOver
from services.procedures.conditions.config_servers.metadata import MetadataSame
from services.procedures.conditions.config_servers.no_router import NoRouterRuns
from services.procedures.conditions.config_servers.runs_with import RunsWith
from services.procedures.conditions.config_servers.spare_folder import SpareFolder
from services.procedures.conditions.config_servers.strangers import NoOtherRouter, NoOtherShard, OthersSeenTo
from services.procedures.conditions.config_servers.unchanged import CatalogNoted, CatalogUnchanged, ChangesKept
from services.procedures.conditions.config_servers.uses import RoutersUse, ShardsUse, StartedWith
from services.procedures.conditions.mongodb.stopped import MongoStopped
from services.procedures.plan.condition import Answer
from tests.faults.scripted.double import Look, double, told
from tests.faults.scripted.names import CAME_MONGOS, CAME_SHARD, FORM, LEADS, LIES, METADATA, STRING, USES


@double(SetLies)
def set_lies(own: SetLies, look: Look) -> bool:
    lies = bool(look.replica_set.get(LIES + own.host))
    return look.hosts[own.host].running and lies is bool(own.name)


@double(AllVote)
def all_vote(own: AllVote, look: Look) -> bool:
    return bool(look.replica_set.get("all-vote"))


@double(ConfigServerIs)
def config_server_is(own: ConfigServerIs, look: Look) -> bool:
    return look.hosts[own.host].running and look.replica_set.get(FORM + own.host) == own.form


@double(NotGoneOver)
def not_gone_over(own: NotGoneOver, look: Look) -> bool:
    return not look.hosts[own.host].running or look.replica_set.get(USES + own.host) != "set"


@double(NeedNotHandOver)
def need_not_hand_over(own: NeedNotHandOver, look: Look) -> bool | Answer:
    stays = look.at(NotGoneOver(own.host, own.unit))
    return stays if stays.holds else look.replica_set.get(LEADS) != own.host


@double(MetadataSame)
def metadata_same(own: MetadataSame, look: Look) -> bool | Answer:
    if not all(look.hosts[host].running for host in own.hosts):
        return Answer(holds=None, evidence="not all answer")
    return len({look.replica_set.get(METADATA + host) for host in own.hosts}) == 1


@double(NoRouterRuns)
def no_router_runs(own: NoRouterRuns, look: Look) -> bool:
    return not any(look.hosts[host].running for host in own.hosts)


@double(RunsWith)
def runs_with(own: RunsWith, look: Look) -> bool:
    host = look.hosts[own.host]
    file = settings_of(look.text(host, own.path))
    return host.running and all(str(file.get(name, "")) == value for name, value in own.settings)


@double(SpareFolder)
def spare_folder(own: SpareFolder, look: Look) -> Answer:
    stopped = look.at(MongoStopped(own.host, own.unit, own.but))
    if stopped.holds:
        return stopped
    return look.at(RunsWith(own.host, own.path, (("storage.dbPath", own.own),)))


@double(NoOtherRouter)
def no_other_router(own: NoOtherRouter, look: Look) -> bool:
    return look.hosts[own.host].running and not _unknown(look, CAME_MONGOS, own.word)


@double(NoOtherShard)
def no_other_shard(own: NoOtherShard, look: Look) -> Answer:
    came = _unknown(look, CAME_SHARD, own.word)
    return replace(told(own, look.hosts[own.host].running and not came), final=came)


@double(OthersSeenTo)
def others_seen_to(own: OthersSeenTo, look: Look) -> Answer:
    came = [name for name in (CAME_MONGOS, CAME_SHARD) if look.replica_set.get(name)]
    (named,) = own.declared().keeps
    return replace(told(own, not came), kept=((named, "\n".join(came)),) if came else ())


@double(CatalogNoted)
def catalog_noted(own: CatalogNoted, look: Look) -> Answer:
    (name,) = own.declared().keeps
    return replace(told(own, True), kept=((name, str(look.replica_set.get(METADATA + own.host, ""))),))


@double(CatalogUnchanged)
def catalog_unchanged(own: CatalogUnchanged, look: Look) -> bool | Answer:
    if own.made_by not in look.past.began:
        return True
    if not look.hosts[own.host].running:
        return own._seen_last(look.past, "it does not answer")
    (noted,), (seen,) = CatalogNoted(own.host).declared().keeps, own.declared().keeps
    same = look.past.kept.get(noted, "") == look.replica_set.get(METADATA + own.host, "")
    return replace(told(own, same), kept=((seen, "same" if same else "changed"),))


@double(ChangesKept)
def changes_kept(own: ChangesKept, look: Look) -> bool:
    return look.past.kept.get(own.kept_as) == "yes"


@double(RoutersUse, ShardsUse)
def routers_use(own: RoutersUse | ShardsUse, look: Look) -> bool:
    uses = "set" if own.name else "mirrored"
    return all(look.hosts[host].running and look.replica_set.get(USES + host) == uses for host in own.hosts)


@double(StartedWith)
def started_with(own: StartedWith, look: Look) -> bool:
    host = look.hosts[own.host]
    return host.running and look.replica_set.get(STRING + own.host) == own.string


def _unknown(look: Look, name: str, word: str) -> bool:
    """Return whether somebody came of whom no person said that they are seen to."""
    (named,) = OthersSeenTo((), (), ()).declared().keeps
    said = look.past.kept.get(word) == "yes" and name in look.past.kept.get(named, "").split("\n")
    return bool(look.replica_set.get(name)) and not said
