"""What a step waits for, as a DBA says it: ends the sentence 'waits for ...'."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.procedures.plan import conditions as c
from services.procedures.plan.conditions_at_rest import PositionMark, StateNamed, Unmoved
from services.procedures.plan.conditions_balancer import BalancerServer
from services.procedures.plan.conditions_component import NotApart, NothingWritten
from services.procedures.plan.conditions_founding import FoundsNothing

WORDS: Mapping[type[object], str] = {
    c.VariableIs: "its variable to be set on {host}",
    c.ProviderOption: "its provider option to be set on {host}",
    c.StatusIs: "a status value of {host}",
    c.Joined: "{host} to be a Synced member",
    NotApart: "{host} to form no Primary Component of its own",
    FoundsNothing: "nothing to have {host} found a cluster of its own when it starts",
    NothingWritten: "the position of {host}: nothing may be written on it",
    c.Stopped: "the server of {host} to be stopped",
    c.CleanPosition: "the seqno in grastate.dat of {host}",
    c.ClusterWhole: "every member to be Synced",
    c.StillPrimary: "the other members to stay Primary",
    c.NoPrimary: "no member to be Primary",
    c.FormedAgain: "the members to form their Primary Component again",
    c.NoClients: "the clients of {host} to be done",
    c.FreeDisk: "room on the disk of {host}",
    c.CacheLasts: "the gcache of {host} to last long enough",
    c.CacheFrozen: "the frozen gcache of {host}",
    c.CacheReaches: "a donor that still caches what {host} missed",
    c.FlowControlBelow: "flow control of {host} to calm down",
    c.FileAbsent: "a file to be gone from {host}",
    c.FileSays: "a file on {host}",
    c.OptionIs: "an option in the files of {host}",
    c.TransferWas: "the transfer to {host} in its log",
    c.Listening: "a port that {host} must reach",
    c.Position: "{host} to have all that was committed",
    c.UnitSetting: "a systemd setting of {host}",
    c.UnitFresh: "its systemd unit on {host}",
    BalancerServer: "HAProxy on {host}",
    c.SameHistory: "the history of {host}",
    PositionMark: "the position of {host}",
    Unmoved: "the position of {host} to be unchanged",
    StateNamed: "the state named in grastate.dat of {host}",
}
"""Every condition a proof may have; a test finds the one that is missing."""


def waiting_words(conditions: Iterable[object]) -> str:
    """Return what must become true, each once: 'the server of n1 to be stopped; every member to be Synced'."""
    told = (WORDS[type(one)].format(host=getattr(one, "host", "")) for one in conditions)
    return "; ".join(dict.fromkeys(told))
