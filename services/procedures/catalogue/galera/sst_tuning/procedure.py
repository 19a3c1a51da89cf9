"""sst-tuning: measure the road between a donor and a joiner, forecast an SST for each choice, set the chosen one.

Domain: page sst-tuning; tried on MariaDB 10.11 with mariabackup (wsrep_sst_mariabackup: compressor and decompressor are
whole command lines before and behind socat, read anew at each transfer, by an IST too). In two parts (decision 0014):
the measurement is approved, then the forecast and the rest of the plan are.
"""

from __future__ import annotations

from services.facts.transfer.sst_measured import PACKERS
from services.procedures.catalogue import checks as preflight
from services.procedures.catalogue.base import Base
from services.procedures.catalogue.checks.sst_sections import alike, joins_free, no_transfer, one_place
from services.procedures.catalogue.galera.cards import ELSEWHERE, KINDS
from services.procedures.catalogue.galera.sst_tuning import checks as own
from services.procedures.catalogue.galera.sst_tuning import rest
from services.procedures.catalogue.galera.sst_tuning.advice import AUTO, GENTLE, SHORTEST, WRITTEN
from services.procedures.catalogue.galera.sst_tuning.measuring import Bounds, measuring_steps, receives_at
from services.procedures.catalogue.galera.sst_tuning.model import NEVER, NONE, Forecast
from services.procedures.catalogue.galera.sst_tuning.trial import trial_checks, trial_watches
from services.procedures.catalogue.steps.choices import member_choices, member_hosts
from services.procedures.conditions.galera.membership.still_primary import StillPrimary
from services.procedures.plan.actions import Checkpoint
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.forms.inputs import bytes_of, flag_of, number_of, seconds_of
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.last_look import looked_again
from services.procedures.plan.model import Chart, Plan, Step, WatchRule
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.data_size import DataSize
from services.procedures.plan.parts.galera.drop_ins import DropIns
from services.procedures.plan.parts.galera.sst_account import SstAccount
from services.procedures.plan.parts.galera.sst_options import SstOptions
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.procedures.plan.parts.machine.capability import Capability
from services.procedures.plan.parts.machine.processes import Processes
from services.procedures.plan.parts.machine.tools import Tools
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.log_filters import LogFilters
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.parts.server.rights import Rights
from services.procedures.plan.parts.server.sessions import Sessions
from services.procedures.plan.parts.server.starting import Starting
from services.procedures.plan.parts.server.variables import Variables
from services.procedures.plan.procedure import About

ABOUT = About(
    name="sst-tuning",
    title="Make state transfers faster, or gentler",
    need="SSTs are unencrypted or slow",
    what="Measures donor, joiner and the network, forecasts an SST for each choice, sets the best one on all nodes.",
    takes="A minute to measure, seconds to set; a real SST only if you choose a node for it.",
    can_break="The measurement uses the whole network for some seconds; a node chosen for a real SST is copied again.",
    node_field="joiner",
    for_states=("synced",),
    later_checks=("FORECAST", "RATIO", "LIMIT", "CIPHER", "NETWORK-SHARE", "DEDICATED-DONOR"),
    kinds=KINDS,
    elsewhere=ELSEWHERE,
    place=70,
    needs=frozenset(
        {
            Capability,
            DataFolder,
            DataSize,
            DropIns,
            LogFilters,
            Options,
            Processes,
            Program,
            Rights,
            Sessions,
            SstAccount,
            SstOptions,
            Starting,
            Tools,
            Unit,
            Variables,
            WriteRate,
        }
    ),
)
NOBODY = "none"
MOST_SECONDS, MOST_MIB, LEAST_SENT = 10, 4096, 64


class SstTuning(Base):
    """See `plan.procedure.Procedure`."""

    about = ABOUT

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the questions: which pair, what for, with which shares; then the bounds of the measurement."""
        members = member_hosts(facts)
        donor = inputs.get("donor") or _fewest_clients(facts, members)
        joiner = _fewest_clients(facts, tuple(m for m in members if m != donor))
        goals = ((SHORTEST, "the shortest SST"), (GENTLE, "the least harm to the donor and the network"))
        packers = ((AUTO, "as measured"), (NONE, "no compression"),
                   *((name, f"{name}, if it is on every node") for name in PACKERS if name not in NEVER))  # fmt: skip
        trials = ((NOBODY, "no real SST"), *((name, f"all data of {name} are replaced") for name in members))
        return (
            Field("donor", "Donor to measure", "host", donor, member_choices(facts)),
            Field("joiner", "Joiner to measure", "host", joiner, member_choices(facts)),
            Field("goal", "Goal", "choice", SHORTEST, goals),
            Field("compressor", "Compressor", "choice", AUTO, packers),
            Field("trial", "Verify the forecast by a real SST to", "choice", NOBODY, trials),
            Field("apply", "Apply the settings", "flag", "yes", help="No: the settings are only reported."),
            *_finer_fields(),
            *preflight.gone_fields(facts),
        )

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Return what is wrong with the inputs."""
        faults = list(super().faults(facts, inputs))
        values = self.values(facts, inputs)
        donor, joiner = values["donor"], values["joiner"]
        if not donor or donor == joiner:
            faults.append(Fault("joiner", "Donor and joiner must be two different members."))
        elif receives_at(facts.host(joiner)) is None:
            faults.append(Fault("joiner", f"wsrep_sst_receive_address of {joiner} is not a plain address."))
        if values["trial"] not in {NOBODY, joiner}:
            faults.append(
                Fault("trial", f"The forecast applies to {joiner}: choose {joiner} or no node for the real SST.")
            )
        shares = ("cpu_share", "network_share")
        odd = [name for name in shares if not 1 <= (number_of(values[name]) or 0) <= 100]
        faults += [Fault(name, "Enter a share from 1 to 100 %.") for name in odd]
        faults += _bounds_faults(values)
        return tuple(faults)

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checklist before anything is measured."""
        values = self.values(facts, inputs)
        members = member_hosts(facts)
        donor, joiner = values["donor"], values["joiner"]
        asked = values["compressor"] if values["compressor"] in PACKERS else ""
        return (
            preflight.health_gate(facts, members),
            preflight.known_product(facts, members),
            *preflight.foreign_provider(facts, members),
            own.method(facts, members),
            *preflight.operator_rights(facts, members),
            preflight.no_transfer_or_ddl(facts, members),
            no_transfer(facts, members),
            own.compressor_pair(facts, members),
            alike(facts, members, WRITTEN),
            one_place(facts, members, WRITTEN),
            own.tools(facts, members, ("socat", *((asked,) if asked else ())), asked),
            own.packed_already(facts, members, values["compressor"]),
            own.tablespaces(facts, (donor, joiner)),
            own.use_memory(facts, members, values),
            own.receives(facts, joiner),
            own.load(facts, values, bounds_of(values)),
            joins_free(facts, members),
            *self._trial_checks(facts, values),
            preflight.all_named(facts, values),
            preflight.lock_free(facts, members),
        )

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the first part: the measurement."""
        values = self.values(facts, inputs)
        steps = measuring_steps(facts, values["donor"], values["joiner"], bounds_of(values))
        return self._plan(facts, values, steps)

    def continued(self, facts: Facts, inputs: Inputs, so_far: Plan) -> tuple[tuple[Check, ...], Plan]:
        """Return the forecast, and the rest: the settings on all nodes in one go, then the real SST."""
        values = self.values(facts, inputs)
        members = member_hosts(facts)
        advice, checks = rest.judged(facts, values, members)
        size, after = (advice.road.data_bytes, advice.after) if advice is not None else (None, None)
        checks += (
            joins_free(facts, members),
            own.use_memory(facts, members, values),
            *self._trial_checks(facts, values, size, after),
        )
        more = rest.steps(facts, values, members, advice) if advice is not None else ()
        return checks, self._plan(facts, values, (*so_far.steps, *more))

    def _plan(self, facts: Facts, values: Inputs, steps: tuple[Step, ...]) -> Plan:
        members, donor, joiner = member_hosts(facts), values["donor"], values["joiner"]
        return Plan(
            procedure=ABOUT.name,
            title=f"Tune state transfers of {facts.cluster_name or 'the cluster'}",
            summary=f"The network from {donor} to {joiner} is measured; the best settings for it are set on every "
            "node.",
            cluster_id=facts.cluster_id,
            cluster_name=facts.cluster_name,
            hosts=members,
            quorums=(members,),
            inputs=tuple(values.items()),
            steps=looked_again(steps),
            watches=_watches(facts, values, steps),
            charts=(Chart("galera.recv_queue", donor, f"Receive queue of {donor}"),),
            expects=_expected(steps),
        )

    def _trial_checks(
        self, facts: Facts, values: Inputs, size: int | None = None, forecast: Forecast | None = None
    ) -> tuple[Check, ...]:
        node = values["trial"]
        if node == NOBODY:
            return ()
        donor, members = values["donor"], member_hosts(facts)
        return (
            *trial_checks(facts, node, donor, size or facts.host(donor)[DataSize].in_bytes, forecast),
            preflight.one_past(facts, (node,), members),
            *preflight.sst_tools(facts, (donor, node)),
            preflight.sst_account(facts, donor),
            preflight.named_donor(facts, node, donor),
            *preflight.config_valid(facts, (node,)),
            *preflight.joins_others(facts, (node,)),
            *preflight.temporary_space(facts, (node, donor)),
            *preflight.innodb_as_usual(facts, (node,)),
        )


PROCEDURE = SstTuning()


def _expected(steps: tuple[Step, ...]) -> tuple[str, ...]:
    """Return what is true at the end: what was told, and what was proven only where the plan has its proof."""
    ids = {step.step_id.partition("-")[0] for step in steps}
    reported = [s.action.sentence for s in steps if s.step_id == "told" and isinstance(s.action, Checkpoint)]
    same = ["[sst] is the same on every node."] if "same" in ids else []
    tried = ["The programs that it names were tested between two of them."] if "through" in ids else []
    return (*reported, *same, *tried)


def bounds_of(values: Inputs) -> Bounds:
    """Return the bounds of the measurement."""
    return Bounds(
        int(seconds_of(values["each_part"]) or 0),
        (bytes_of(values["most_sent"]) or 0) // 2**20,
        (bytes_of(values["most_packed"]) or 0) // 2**20,
        flag_of(values["write_probe"]) is True,
    )


def _bounds_faults(values: Inputs) -> list[Fault]:
    faults, bounds = [], bounds_of(values)
    if not 1 <= bounds.seconds <= MOST_SECONDS:
        faults.append(Fault("each_part", f"Measure for 1 to {MOST_SECONDS} s."))
    for name, mib, least in (("most_sent", bounds.road_mib, LEAST_SENT), ("most_packed", bounds.sample_mib, 1)):
        if not least <= mib <= MOST_MIB:
            faults.append(Fault(name, f"Enter {least} MiB to {MOST_MIB // 1024} GiB."))
    return faults


def _finer_fields() -> tuple[Field, ...]:
    """Return the questions that most people leave as they are."""
    return (
        Field("dedicated", "The donor serves no application", "flag", "no", advanced=True),
        Field("cpu_share", "Share of the donor's cores for compressing", "number", "50", unit="%", advanced=True),
        Field(
            "network_share",
            "Share of the network for an SST",
            "number",
            "70",
            help="Enforced by rlimit, for the gentle goal, if every node has pv.",
            unit="%",
            advanced=True,
        ),
        Field(
            "prepare_memory",
            "Memory for preparing an SST",
            "bytes",
            required=False,
            help="Empty: unchanged, or computed if preparing takes long or the buffer pool does not fit.",
            advanced=True,
        ),
        Field("each_part", "Longest measurement of each part", "duration", "10 s", advanced=True),
        Field("most_sent", "Most data to send over the network", "bytes", "1 GiB", advanced=True),
        Field("most_packed", "Most data to compress", "bytes", "64 MiB", advanced=True),
        Field("write_probe", "Write this sample to the joiner's data disk as well", "flag", "yes", advanced=True),
    )


def _fewest_clients(facts: Facts, members: tuple[str, ...]) -> str:
    return min(members, key=lambda h: (facts.host(h)[Sessions].clients or 0, h), default="")


def _watches(facts: Facts, values: Inputs, steps: tuple[Step, ...]) -> tuple[WatchRule, ...]:
    """Watch the quorum: of all while it is measured, of the others while one is copied anew."""
    members, known = member_hosts(facts), {step.step_id for step in steps}
    found = [
        WatchRule(
            code="MEASURED-QUORUM",
            condition=StillPrimary(members, len(members), facts.cluster_id),
            sentence=f"One of {', '.join(members)} is no longer a full member: the measurement stops.",
            to_step="forecast",
        )
    ]
    node = values["trial"]
    if f"trial:start-{node}" in known:
        found += trial_watches(facts, node)
    return tuple(found)
