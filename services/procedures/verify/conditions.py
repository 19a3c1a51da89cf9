"""Proofs on real hosts: every condition evaluated over Observer sessions (ports.Prover)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from services.clock import Clock
from services.errors import UserError
from services.procedures.engine.ports import Hosts, Past
from services.procedures.engine.remembering import Memory
from services.procedures.plan import conditions as c
from services.procedures.plan.conditions_at_rest import PositionMark, StateNamed, Unmoved
from services.procedures.plan.conditions_balancer import BalancerServer
from services.procedures.plan.conditions_component import NotApart, NothingWritten
from services.procedures.plan.conditions_founding import FoundsNothing
from services.procedures.plan.host_facts import Facts
from services.procedures.verify.asking import Asking
from services.procedures.verify.at_rest import position_mark, state_named, unmoved
from services.procedures.verify.balancer import balancer_server
from services.procedures.verify.cache import cache_frozen, cache_lasts, cache_reaches
from services.procedures.verify.component import not_apart, nothing_written
from services.procedures.verify.files import clean_position, file_absent, file_says, option_is
from services.procedures.verify.founding import founds_nothing
from services.procedures.verify.galera import cluster_whole, formed_again, still_primary
from services.procedures.verify.history import same_history
from services.procedures.verify.join import joined, transfer_was
from services.procedures.verify.machine import free_disk, listening, stopped, unit_fresh, unit_setting
from services.procedures.verify.no_primary import no_primary
from services.procedures.verify.server import (
    flow_control_below,
    no_clients,
    position,
    provider_option,
    status_is,
    variable_is,
)
from services.visible import visible

Look = Callable[[Any, Asking, Past], c.Answer]
LOOKS: dict[type, Look] = {
    c.VariableIs: variable_is,
    c.ProviderOption: provider_option,
    c.StatusIs: status_is,
    c.Joined: joined,
    NotApart: not_apart,
    NothingWritten: nothing_written,
    c.Stopped: stopped,
    c.CleanPosition: clean_position,
    c.ClusterWhole: cluster_whole,
    c.StillPrimary: still_primary,
    c.NoPrimary: no_primary,
    c.FormedAgain: formed_again,
    c.NoClients: no_clients,
    c.FreeDisk: free_disk,
    c.CacheLasts: cache_lasts,
    c.CacheFrozen: cache_frozen,
    c.CacheReaches: cache_reaches,
    c.FlowControlBelow: flow_control_below,
    c.FileAbsent: file_absent,
    c.FileSays: file_says,
    c.OptionIs: option_is,
    c.TransferWas: transfer_was,
    c.Listening: listening,
    c.Position: position,
    c.UnitSetting: unit_setting,
    c.UnitFresh: unit_fresh,
    BalancerServer: balancer_server,
    c.SameHistory: same_history,
    PositionMark: position_mark,
    Unmoved: unmoved,
    StateNamed: state_named,
    FoundsNothing: founds_nothing,
}


class RealProver:
    """See ports.Prover. One thread at a time; looks at several hosts of one condition are made at once, and joined."""

    def __init__(self, hosts: Hosts, clock: Clock, facts: Facts | None = None) -> None:
        """Remember the roads.

        Args:
            facts: what the plan was made from: data folders, units and the size of a donor's data; may be set later.
        """
        self._asking = Asking(hosts, clock, facts)

    @property
    def facts(self) -> Facts | None:
        """Return the facts that estimates are made from."""
        return self._asking.facts

    @facts.setter
    def facts(self, facts: Facts | None) -> None:
        self._asking.facts = facts

    def look(self, condition: c.Condition, past: Past, memory: Memory | None = None) -> c.Answer:
        """Return what one look found; what could not be read is an answer too. Without a memory it is a look alone."""
        try:
            found = LOOKS[type(condition)](condition, replace(self._asking, memory=memory or Memory()), past)
            return replace(found, evidence=visible(found.evidence), lines=tuple(map(visible, found.lines)))
        except UserError as error:
            return c.Answer(holds=None, evidence=str(error))
