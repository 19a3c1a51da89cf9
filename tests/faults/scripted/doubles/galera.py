"""Doubles of the conditions of Galera: members, their positions and pasts, caches and transfers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from services.facts.galera.state_files import ZERO_UUID, position_of
from services.facts.server.values import compared
from services.procedures.conditions.galera.config.founding import FoundsNothing
from services.procedures.conditions.galera.config.pair_sound import LocalPairSound, PairSound
from services.procedures.conditions.galera.config.provider_option import ProviderOption
from services.procedures.conditions.galera.config.sst_section import SstGives, SstSame
from services.procedures.conditions.galera.data.at_rest import PositionMark, Unmoved
from services.procedures.conditions.galera.data.backup_is import BackupIs, PreparedTo
from services.procedures.conditions.galera.data.clean_position import CleanPosition
from services.procedures.conditions.galera.data.data_stands import DataStands
from services.procedures.conditions.galera.data.left_alone import LeftAlone
from services.procedures.conditions.galera.data.nothing_written import NothingWritten
from services.procedures.conditions.galera.data.position import Position
from services.procedures.conditions.galera.data.recovered_is import RecoveredIs
from services.procedures.conditions.galera.data.restored_whole import RestoredWhole
from services.procedures.conditions.galera.data.state_named import StateNamed
from services.procedures.conditions.galera.history.chain_known import ChainKnown
from services.procedures.conditions.galera.history.copied import CopiedHistory
from services.procedures.conditions.galera.history.fragments_whole import FragmentsWhole
from services.procedures.conditions.galera.history.restored import RestoredHistory
from services.procedures.conditions.galera.history.same import SameHistory
from services.procedures.conditions.galera.membership.apart import NotApart
from services.procedures.conditions.galera.membership.flow_control import FlowControlBelow
from services.procedures.conditions.galera.membership.joined import Joined
from services.procedures.conditions.galera.membership.no_primary import NoPrimary
from services.procedures.conditions.galera.membership.no_read_lock import NoReadLock
from services.procedures.conditions.galera.membership.nobody_joins import NobodyJoins
from services.procedures.conditions.galera.membership.still_desynced import StillDesynced
from services.procedures.conditions.galera.membership.still_primary import StillPrimary
from services.procedures.conditions.galera.membership.whole import ClusterWhole, FormedAgain
from services.procedures.conditions.galera.transfer.cache import CacheFrozen, CacheLasts, CacheReaches
from services.procedures.conditions.galera.transfer.ist_from import IstFrom
from services.procedures.conditions.galera.transfer.ist_reaches import IstReaches
from services.procedures.conditions.galera.transfer.replay_race import ReplayRace
from services.procedures.conditions.galera.transfer.sst_took import SstTook
from services.procedures.conditions.galera.transfer.which import TransferWas
from services.procedures.looking.asked import number_of
from services.procedures.plan.condition import Answer, Condition
from tests.faults.scripted.cluster import Host
from tests.faults.scripted.double import Look, double, told


@double(NotApart)
def not_apart(own: NotApart, look: Look) -> bool:
    return not look.hosts[own.host].apart


@double(PositionMark)
def position_mark(own: PositionMark, look: Look) -> Answer:
    starts = str(look.hosts[own.host].starts)
    holds = not own.since or look.past.kept[own.since] == starts
    return replace(told(own, holds), kept=((own.keep, starts),))


@double(Unmoved)
def unmoved(own: Unmoved, look: Look) -> bool:
    host = look.hosts[own.host]
    stands = look.past.kept[own.mark] == str(host.starts) and look.past.kept.get(own.recovered, "") == own.position
    return own.own_start in look.past.began or stands or (bool(own.hosts) and host.primary)


@double(BackupIs, PreparedTo)
def backup_is(own: BackupIs | PreparedTo, look: Look) -> bool:
    return look.exists(look.hosts[own.host], own.path)


@double(CacheFrozen)
def cache_frozen(own: CacheFrozen, look: Look) -> bool:
    host = look.hosts[own.host]
    return host.running and 0 <= int(host.frozen_at or "-1") <= (number_of(own.stopped_at, look.past) or 0)


@double(CacheReaches)
def cache_reaches(own: CacheReaches, look: Look) -> bool:
    host = look.hosts[own.host]
    known = host.grastate_uuid == own.state_uuid and host.grastate_seqno >= 0
    donors = [look.hosts[name] for name in own.donors]
    return host.primary or (known and any(d.primary and d.cached_from <= host.seqno + 1 for d in donors))


@double(ChainKnown)
def chain_known(own: ChainKnown, look: Look) -> bool:
    return not any(look.hosts[name].parted for name in own.hosts)


@double(CleanPosition)
def clean_position(own: CleanPosition, look: Look) -> Answer:
    host = look.hosts[own.host]
    least = max(0, number_of(own.at_least, look.past) or 0)
    left = host.grastate_uuid == own.state_uuid and host.grastate_seqno >= least
    return told(own, left, own.keep, str(host.grastate_seqno))


@double(DataStands)
def data_stands(own: DataStands, look: Look) -> bool | Answer:
    if look.hosts[own.host].has_data:
        return True
    return own._gone(f"the data folder of {own.host} was erased by an interrupted SST and contains no database now")


@double(FoundsNothing)
def founds_nothing(own: FoundsNothing, look: Look) -> bool:
    return not look.hosts[own.host].founds


@double(FragmentsWhole)
def fragments_whole(own: FragmentsWhole, look: Look) -> bool:
    return look.hosts[own.host].primary


@double(IstFrom)
def ist_from(own: IstFrom, look: Look) -> bool:
    host = look.hosts[own.host]
    return host.primary and host.came_by == "IST" and number_of(own.behind, look.past) is not None


@double(IstReaches)
def ist_reaches(own: IstReaches, look: Look) -> bool:
    at, donors = number_of(own.stopped_at, look.past), [look.hosts[name] for name in own.donors]
    return at is not None and any(d.primary and d.cached_from <= at + 1 for d in donors)


@double(Joined)
def joined(own: Joined, look: Look) -> bool:
    host = look.hosts[own.host]
    return host.primary and not (own.beside and host.apart)


@double(LeftAlone)
def left_alone(own: LeftAlone, look: Look) -> bool | Answer:
    host = look.hosts[own.host]
    if own.own in look.past.began or not look.exists(host, own.aside):
        return True
    if own.mark not in look.past.kept:
        return False
    if look.past.kept[own.mark] == str(host.starts):
        return True
    return Answer(holds=None, evidence=f"a server ran on {own.host} since: what it wrote is not known", final=True)


@double(NoPrimary)
def no_primary(own: NoPrimary, look: Look) -> bool:
    primary = any(look.hosts[name].primary for name in own.hosts)
    return not primary and not any(look.hosts[name].reachable for name in own.accounted)


@double(NoReadLock)
def no_read_lock(own: NoReadLock, look: Look) -> bool:
    return look.hosts[own.host].units.get(own.scope, "inactive") == "inactive"


@double(NobodyJoins)
def nobody_joins(own: NobodyJoins, look: Look) -> bool:
    return all(not h.running or h.primary for h in (look.hosts[name] for name in own.hosts))


@double(NothingWritten)
def nothing_written(own: NothingWritten, look: Look) -> bool:
    return look.hosts[own.host].seqno <= own.since


@double(PairSound)
def pair_sound(own: PairSound, look: Look) -> Answer:
    host = look.hosts[own.host]
    there = all(look.exists(host, path) for path in (own.ca, own.cert, own.key))
    text = look.text(host, own.cert) if there else ""
    same = own.as_on is None or look.past.kept.get(own.as_on.name) == text
    return told(own, there and same, own.keep, text)


@double(Position)
def position(own: Position, look: Look) -> bool:
    host = look.hosts[own.host]
    return host.primary and host.seqno >= (number_of(own.at_least, look.past) or 0)


@double(ProviderOption)
def provider_option(own: ProviderOption, look: Look) -> bool | Answer:
    host = look.hosts[own.host]
    frozen = host.frozen_at or ""
    if own.or_ended and not host.running:
        return True
    there = host.running and own.option == "gcache.freeze_purge_at_seqno"
    return told(own, there and compared(frozen, own.comparison, own.value), own.keep, frozen)


@double(RecoveredIs)
def recovered_is(own: RecoveredIs, look: Look) -> bool:
    found = position_of(look.past.kept.get(own.recovered.name, ""))
    return found is not None and found[1] == number_of(own.seqno, look.past)


@double(ReplayRace)
def replay_race(own: ReplayRace, look: Look) -> bool:
    return any(look.hosts[name].cached_from <= own.target + 1 for name in own.donors)


@double(RestoredHistory, CopiedHistory)
def restored_history(own: RestoredHistory | CopiedHistory, look: Look) -> bool:
    return not look.hosts[own.host].parted


@double(RestoredWhole)
def restored_whole(own: RestoredWhole, look: Look) -> bool:
    host = look.hosts[own.host]
    named = host.grastate_uuid.lower() == own.state_uuid.lower()
    recovered = own.recovered and RecoveredIs(own.host, own.state_uuid, own.seqno, own.recovered)
    right = recovered is None or look.at(recovered).holds is True
    noted = bool(own.mark) and look.exists(host, own.mark)
    return not noted and ((named and right) or not look.exists(host, own.aside))


@double(SameHistory)
def same_history(own: SameHistory, look: Look) -> bool:
    host = look.hosts[own.host]
    if host.grastate_uuid in {"", ZERO_UUID}:
        keeps = own.stopped_at is not None and any(look.hosts[name].primary for name in own.hosts)
        return own.by_sst or not host.has_data or keeps
    return not host.parted


@double(SstGives)
def sst_gives(own: SstGives, look: Look) -> bool:
    found = _given(look.hosts[own.host], (name for name, _ in own.options))
    return found == dict(own.options)


@double(SstSame)
def sst_same(own: SstSame, look: Look) -> bool:
    found = {name: _given(look.hosts[name], own.options) for name in own.hosts}
    if len({tuple(one.items()) for one in found.values()}) == 1:
        return True
    former = {name: dict(options) for name, options in own.former}
    return all(name in former and former[name].items() <= one.items() for name, one in found.items())


@double(SstTook)
def sst_took(own: SstTook, look: Look) -> Answer:
    host, (name,) = look.hosts[own.host], own.declared().keeps
    return told(own, host.primary and host.came_by == "SST", name, f"{own.sentence(own.forecast_s)}.")


@double(StateNamed)
def state_named(own: StateNamed, look: Look) -> bool:
    named = look.hosts[own.host].grastate_uuid not in {"", ZERO_UUID}
    return named or own.accepted in look.past.kept


@double(StillDesynced)
def still_desynced(own: StillDesynced, look: Look) -> bool:
    host = look.hosts[own.host]
    return host.running and look.variable(host, "wsrep_desync") == "ON"


@double(StillPrimary)
def still_primary(own: StillPrimary, look: Look) -> bool:
    return sum(look.hosts[name].primary for name in own.hosts) >= own.at_least


@double(TransferWas)
def transfer_was(own: TransferWas, look: Look) -> bool:
    host = look.hosts[own.host]
    return host.primary and own.kind in {"any", host.came_by} and own.donor in {"", host.came_from}


@double(ClusterWhole)
def cluster_whole(own: ClusterWhole, look: Look) -> bool | Answer:
    members = look.cluster.primaries()
    if more := [host.name for host in members if host.name not in own.hosts and not host.apart]:
        return Answer(holds=False, evidence=f"not counted: {', '.join(more)}", final=True, doubt=True)
    calm = all(host.name in own.but_desynced or "wsrep_desync" not in host.variables for host in members)
    whole = len(members) == own.size and {host.name for host in members} == set(own.hosts)
    return whole and calm


@double(FormedAgain)
def formed_again(own: FormedAgain, look: Look) -> bool:
    looks = int(str(look.memory.value(own) or 0)) + 1
    look.memory.keep(own, looks)  # patience ends after a few looks
    return all(look.hosts[name].primary for name in own.hosts) or looks >= 4


@double(CacheLasts, FlowControlBelow, LocalPairSound)
def always(own: Condition, look: Look) -> bool:
    """What these read is not in memory: queues, the pace of a cache, files of the workstation."""
    return True


def _given(host: Host, names: Iterable[str]) -> dict[str, str | None]:
    """Return what the option files of a host give these options, None where nothing."""
    text = "\n".join(text for path, text in sorted(host.files.items()) if path.endswith(".cnf"))
    found = {name: re.findall(rf"^{name} ?= ?(.*)$", text, re.MULTILINE) for name in names}
    return {name: (values[-1].strip() or None) if values else None for name, values in found.items()}
