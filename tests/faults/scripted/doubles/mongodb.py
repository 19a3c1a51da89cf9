"""Doubles of the conditions of MongoDB: a replica set and its members, the balancer of their cluster."""

from __future__ import annotations

from services.procedures.conditions.mongodb.answering import Answering
from services.procedures.conditions.mongodb.balancer import BalancerIs, NothingMoves
from services.procedures.conditions.mongodb.database import NoDatabase
from services.procedures.conditions.mongodb.follows import SuccessorFollows
from services.procedures.conditions.mongodb.in_cluster import InCluster
from services.procedures.conditions.mongodb.leads_not import LeadsNot
from services.procedures.conditions.mongodb.others_follow import OthersFollow
from services.procedures.conditions.mongodb.others_hold import OthersHold
from services.procedures.conditions.mongodb.protocol import NobodyElected, OptimesOf, ProtocolIs
from services.procedures.conditions.mongodb.release import RunsRelease
from services.procedures.conditions.mongodb.spared import Spared
from services.procedures.conditions.mongodb.steady import LedForGood, SetSteady
from services.procedures.conditions.mongodb.stepped_down import AnotherLeads, NeedNotStepDown
from services.procedures.conditions.mongodb.stopped import MongoStopped
from services.procedures.conditions.mongodb.strangers import NoOtherMember
from services.procedures.conditions.mongodb.whole import SetWhole
from services.procedures.plan.condition import Answer, Condition
from tests.faults.scripted.double import Look, double


@double(BalancerIs)
def balancer_is(own: BalancerIs, look: Look) -> bool | Answer:
    if not any(look.hosts[name].running for name in (own.host, *own.others)):
        return Answer(holds=None, evidence="no mongos runs that could tell of the balancer")
    return bool(look.replica_set["balancer"]) is own.on


@double(NoDatabase)
def no_database(own: NoDatabase, look: Look) -> bool:
    return look.hosts[own.host].running and not look.replica_set["trial"]


@double(SuccessorFollows)
def successor_follows(own: SuccessorFollows, look: Look) -> bool:
    return all(look.hosts[host].running for host in own.hosts)


@double(InCluster)
def in_cluster(own: InCluster, look: Look) -> bool:
    return look.hosts[own.host].running


@double(LeadsNot)
def leads_not(own: LeadsNot, look: Look) -> bool:
    leads, host = look.replica_set.get("primary") == own.host, look.hosts[own.host]
    return not leads or host.release == own.version


@double(OthersFollow, OthersHold)
def others_follow(own: OthersFollow | OthersHold, look: Look) -> bool:
    up = [host for host in own.hosts if look.hosts[host].running and look.hosts[host].primary]
    return len(up) * 2 > len(own.hosts) + 1


@double(ProtocolIs, OptimesOf)
def protocol_is(own: ProtocolIs | OptimesOf, look: Look) -> bool:
    return look.together(own.hosts) and look.replica_set["protocol"] == own.protocol


@double(NobodyElected, Spared, SetSteady, LedForGood)
def together(own: NobodyElected | Spared | SetSteady | LedForGood, look: Look) -> bool:
    return look.together(own.hosts)


@double(RunsRelease)
def runs_release(own: RunsRelease, look: Look) -> bool:
    host = look.hosts[own.host]
    return host.running and host.release == own.version


@double(AnotherLeads)
def another_leads(own: AnotherLeads, look: Look) -> bool:
    return look.together(own.hosts) and look.replica_set["primary"] != own.but


@double(NeedNotStepDown)
def need_not_step_down(own: NeedNotStepDown, look: Look) -> bool | Answer:
    runs = look.at(RunsRelease(own.but, own.version))
    return runs if runs.holds else look.at(AnotherLeads(own.hosts, own.but))


@double(MongoStopped)
def mongo_stopped(own: MongoStopped, look: Look) -> bool:
    return not look.hosts[own.host].running


@double(SetWhole)
def set_whole(own: SetWhole, look: Look) -> bool:
    leads = not own.primary or look.replica_set["primary"] == own.primary
    return leads and look.together(own.hosts)


@double(Answering, NothingMoves, NoOtherMember)
def always(own: Condition, look: Look) -> bool:
    """What these read is not in memory: chunks on their way, members that nobody named; each server answers."""
    return True
