"""rejoin-from-incrementals where the backups are brought first: its first part, and how the rest is joined to it. Pure.

What lies on the node is known only once it is there: positions, LSNs and versions are read again then, judged as those
of a backup that always lay there, and the rest of the plan is shown and approved.
"""

from __future__ import annotations

from dataclasses import replace

from services.procedures.catalogue.galera.bringing.checks import Wants, bringing_checks, size_of
from services.procedures.catalogue.galera.bringing.steps import bringing_steps, bringing_watches, with_removal
from services.procedures.catalogue.galera.bringing.way import NOW, Way
from services.procedures.catalogue.galera.rejoin_from_incrementals.chain import Chain
from services.procedures.catalogue.galera.rejoin_from_incrementals.steps import rejoin_plan
from services.procedures.catalogue.steps import restoring
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.plan.checks import Check
from services.procedures.plan.fields import Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Plan

KNOWN = "backup-known"


def checks_of_way(facts: Facts, values: Inputs, way: Way, chain: Chain) -> tuple[Check, ...]:
    """Return the checks of the bringing. `chain`: what the source has; of a backup made now there is none yet."""
    wants: Wants = (
        (values["scratch"], "its copies"),
        (restoring.folder_of(facts.host(way.joiner)), "the new data"),
    )
    return bringing_checks(facts, way, size_of(facts, way, chain.size), wants)


def begun(facts: Facts, values: Inputs, way: Way, chain: Chain) -> Plan:
    """Return the first part: the backups are brought to the node; nothing of the node's own is touched."""
    bare = rejoin_plan(facts, values, Chain())
    if way.joiner in member_hosts(facts):
        return bare
    what = f"{way.source} makes a backup" if way.kind == NOW else f"The backup is brought from {way.source}"
    rest = steps.plan_the_rest(
        KNOWN, f"Read what came to {way.joiner}", "what is in the backup is known only once it is there"
    )
    return replace(
        bare,
        summary=f"{what}; then it is prepared, put in place, and IST brings {way.joiner} the rest.",
        hosts=tuple(dict.fromkeys((*bare.hosts, way.source))),
        steps=(*bringing_steps(facts, way, size_of(facts, way, chain.size)), rest),
        watches=bringing_watches(facts, way),
        expects=(f"{way.joiner} is Synced, and came by IST.", *bare.expects[1:]),
    )


def gone_on(facts: Facts, values: Inputs, way: Way, chain: Chain, so_far: Plan) -> Plan:
    """Return the whole plan: what came is a chain on the node now. It is removed once the node is back."""
    rest = rejoin_plan(facts, values, chain)
    if not rest.steps:
        return so_far
    return replace(
        rest,
        hosts=so_far.hosts,
        quorums=so_far.quorums,
        inputs=so_far.inputs,
        steps=(*so_far.steps, *with_removal(rest.steps, way)),
        watches=(*so_far.watches, *rest.watches),
    )
