"""The second part, once it was measured: what is reported, what is set on all nodes in one go, the trial. All pure."""

from __future__ import annotations

import math

from services.facts.transfer.sst_measured import PACKERS
from services.procedures.catalogue import checks as preflight
from services.procedures.catalogue.checks.sst_sections import alike, no_transfer, one_place
from services.procedures.catalogue.galera.sst_tuning import checks as own
from services.procedures.catalogue.galera.sst_tuning import forecast_checks
from services.procedures.catalogue.galera.sst_tuning.advice import WRITTEN, Advice, advise, differing
from services.procedures.catalogue.galera.sst_tuning.pipe import on_each, pipe_test
from services.procedures.catalogue.galera.sst_tuning.trial import trial_steps
from services.procedures.catalogue.steps.sst_section import changed_on_all
from services.procedures.plan.actions import Checkpoint
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import flag_of
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Risk, Step


def judged(facts: Facts, values: Inputs, members: tuple[str, ...]) -> tuple[Advice | None, tuple[Check, ...]]:
    """Return what the measurement gives, and the checks of the second part."""
    donor, joiner = values["donor"], values["joiner"]
    advice = advise(facts, values, members)
    found: list[Check] = [
        forecast_checks.forecast(advice, donor, joiner),
        preflight.health_gate(facts, members),
        preflight.no_transfer_or_ddl(facts, members),
        no_transfer(facts, members),
        own.compressor_pair(facts, members),
        alike(facts, members, WRITTEN),
    ]
    if advice is None:
        return None, tuple(found)
    names = tuple(name for name, _ in advice.settings)
    packer = advice.after.packer
    needed = (packer,) if packer in PACKERS else ()
    found += [
        one_place(facts, members, names),
        forecast_checks.compressible(advice, values),
        own.tools(facts, members, ("socat", *needed), packer if needed else ""),
        own.packed_already(facts, members, packer),
        forecast_checks.limit(facts, advice, donor),
        forecast_checks.cipher(facts, advice, (donor, joiner)),
        forecast_checks.share(facts, advice, values),
        forecast_checks.dedicated_donor(facts, joiner),
    ]
    return advice, tuple(found)


def steps(facts: Facts, values: Inputs, members: tuple[str, ...], advice: Advice) -> tuple[Step, ...]:
    """Return the rest of the plan; where every node has the settings already only the report, and the trial."""
    if advice.after.rate is None:
        return ()
    found: list[Step] = [_reported(facts, values, members, advice)]
    wanted = differing(facts, advice.settings, members) if flag_of(values["apply"]) is True else ()
    if wanted:
        # All of them, those too that are so already: only what is proven to be alike lets a join go.
        found += changed_on_all(facts, members, advice.settings, within=_pipe(facts, values, members, advice))
    node = values["trial"]
    chosen = advice.after if flag_of(values["apply"]) is True and advice.settings else advice.today
    if node in members and chosen is not None and math.isfinite(chosen.seconds):
        found += trial_steps(facts, node, values["donor"], chosen, forecast_checks.choice_words(chosen))
    return tuple(found)


def _reported(facts: Facts, values: Inputs, members: tuple[str, ...], advice: Advice) -> Step:
    wanted = differing(facts, advice.settings, members)
    if not advice.settings:
        what = (
            "Nothing is set: the current setting, the network or a disk was not measured. Choose a compressor by name."
        )
    elif not flag_of(values["apply"]):
        what = "Nothing is set: you asked for a report only."
    elif not wanted:
        what = "Nothing needs to be set: every node already has these settings."
    else:
        what = "Set on every node: " + ", ".join(f"{name} = {value or 'not set'}" for name, value in wanted) + "."
    return Step(
        step_id="told",
        host="",
        title="Report the forecast and its result",
        done="The forecast was reported",
        action=Checkpoint(f"{forecast_checks.sentence(advice)} {what}"),
        risk=Risk.READS,
        repeatable=True,
    )


def _pipe(facts: Facts, values: Inputs, members: tuple[str, ...], advice: Advice) -> tuple[Step, ...]:
    """Try the pair before it is set; without a compressor there is no pipe."""
    said = dict(advice.settings)
    pack, unpack = said["compressor"], said["decompressor"]
    if pack is None or unpack is None:
        return ()
    return (*on_each(facts, members, pack, unpack), *pipe_test(facts, values["donor"], values["joiner"], pack, unpack))
