"""The checks of a forecast: each choice, what limits it, what would help. Pure."""

from __future__ import annotations

import math

from services.procedures.catalogue.checks.parts import listed, verdict
from services.procedures.catalogue.galera.sst_tuning.advice import (
    AUTO,
    GENTLE,
    TLS_CIPHER,
    Advice,
    appliers,
)
from services.procedures.catalogue.galera.sst_tuning.measuring import encrypts
from services.procedures.catalogue.galera.sst_tuning.model import INCOMPRESSIBLE, NONE, PIGZ_CORES, Forecast
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.machine.capability import Capability
from services.procedures.plan.parts.machine.tools import Tools
from services.procedures.plan.parts.server.sessions import Sessions

MANY_S = 0.2
"""A part of the forecast that is worth a word of advice, as a share of the whole."""


def rate_words(rate: float | None) -> str:
    """Return '115 MB/s'; 'not known' where it was not measured."""
    return "not known" if rate is None else f"{rate / 1e6:.0f} MB/s"


def time_words(seconds: float) -> str:
    """Return '41 s', '12 min', '3.5 h'; 'never' for what has no end."""
    if math.isnan(seconds):
        return "not known"
    if math.isinf(seconds):
        return "never"
    if seconds < 600:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6 * 3600 else f"{seconds / 3600:.1f} h"


def choice_words(one: Forecast) -> str:
    """Return a choice in words: 'zstd with 4 threads and 4 readers'."""
    packer = "no compressor" if one.packer == NONE else one.packer
    threads = f" with {one.threads} thread{'' if one.threads == 1 else 's'}" if one.threads else ""
    return packer + threads + (f", {one.parallel} readers" if one.parallel > 1 else "")


def row_words(one: Forecast) -> str:
    """Return one line of the forecast."""
    return f"{choice_words(one)}: about {time_words(one.seconds)}, {rate_words(one.rate)}, limited by {one.limit}"


def sentence(advice: Advice) -> str:
    """Return the outcome as a sentence for plan and report."""
    now = row_words(advice.today) if advice.today is not None else "a compressor that was not measured"
    return f"Recommended: {row_words(advice.after)}. Current settings: {now}."


def forecast(advice: Advice | None, donor: str, joiner: str) -> Check:
    """Tell what each choice would take, the shortest first; not known where nothing was measured."""
    title = f"Duration of an SST from {donor} to {joiner}"
    if advice is None or math.isnan(advice.after.seconds):
        said = "the size of the data" if advice is None else "disk and network"
        evidence = f"{said} could not be measured: no forecast, nothing is set"
        return Check("FORECAST", title, Verdict.WARN, evidence, to_read=True, not_known=True)
    measured = _measured(advice)
    unknown = [name for name, rate in measured.items() if rate is None and name != "cipher"]
    unknown += ["the current compressor"] if advice.today is None else []
    rows = [row_words(row) for row in advice.rows]
    evidence = ", ".join(f"{name} {rate_words(rate)}" for name, rate in measured.items() if rate is not None)
    return Check(
        code="FORECAST",
        title=title,
        verdict=verdict((), unknown),
        evidence="; ".join(
            [sentence(advice).rstrip("."), *rows, f"measured: {evidence}", *(f"{name} not known" for name in unknown)]
        ),
        why=f"An estimate for {advice.road.data_bytes / 1e9:.2f} GB, from the measurement just made; parts that were "
        "not measured are assumed to be no limit.",
        to_read=True,
    )


def _measured(advice: Advice) -> dict[str, float | None]:
    road = advice.road
    found = {"disk read": road.read, "four readers": road.read_4, "network": road.net, "disk write": road.write}
    return found | {f"one core {p.name}": p.pack for p in advice.packers} | {"cipher": road.cipher}


def compressible(advice: Advice, values: Inputs) -> Check:
    """Pages of a ratio of about 1 are not compressed, and a compressor that was asked for is refused for them."""
    ratios = ", ".join(f"{p.name} to {100 * p.ratio:.0f} %" for p in advice.packers) or "no compressor was measured"
    asked = values["compressor"]
    hard = [p.name for p in advice.packers if p.ratio >= INCOMPRESSIBLE]
    refused = asked in hard
    unmeasured = asked not in {AUTO, NONE} and asked not in {p.name for p in advice.packers}
    return Check(
        code="RATIO",
        title="The data can be compressed",
        verdict=verdict(refused or unmeasured, hard),
        evidence=f"a sample of {(advice.found.donor.sample or 0) / 1e6:.0f} MB: {ratios}" if advice.found.donor else "",
        why="Pages that are already encrypted or compressed keep their size: compression is then off.",
        try_=("Leave the choice of the compressor to the run, or choose none.",) if refused or unmeasured else (),
        absolute=refused or unmeasured,
    )


def limit(facts: Facts, advice: Advice, donor: str) -> Check:
    """Name the stage that limits what was chosen, and only what relieves it."""
    after, advices = advice.after, list[str]()
    if after.limit == "donor CPU":
        advices.append("A weaker compressor, more cores for it, or a dedicated donor would help.")
    if after.limit == "network" and after.packer == NONE and not advice.packers:
        advices.append("A compressor would help: install zstd, or lz4, on every node.")
    if after.limit == "disk write":
        advices.append("No setting helps; a faster disk of the joiner would.")
    if after.prepare_limits:
        advices.append("Preparing takes long: more use-memory shortens it.")
    if after.catch_up_s > MANY_S * after.seconds:
        now, better = appliers(facts.host(donor))
        advice_text = f"wsrep_slave_threads is {now or 'not known'}, {better or 'twice the cores'} would be sufficient"
        advices.append(f"Catching up takes long: {advice_text}.")
    road = advice.road
    load = f"load {road.donor_load:.1f} on {road.cores} cores of the donor, {road.joiner_load:.1f} on "
    load += f"{road.joiner_cores or 'not known how many'} of the joiner"
    return Check(
        code="LIMIT",
        title="What limits the transfer",
        verdict=verdict(()),
        evidence=f"{after.limit} at {rate_words(after.rate)}; copy {time_words(after.copy_s)}, prepare "
        f"{time_words(after.prepare_s)}, catch up {time_words(after.catch_up_s)}; {load}",
        why="Only a change to the limiting stage makes the transfer faster.",
        try_=tuple(advices),
        to_read=True,
    )


def cipher(facts: Facts, advice: Advice, ends: tuple[str, str]) -> Check:
    """Compare ciphers where the SST is encrypted: AES is fast only where the processor has it."""
    on = [name for name in ends if encrypts(facts.host(name))]
    slow = [name for name in ends if facts.host(name)[Capability].aes is False]
    ciphers = []
    for name, found in zip(ends, (advice.found.donor, advice.found.joiner), strict=True):
        aes = {True: "AES in its processor", False: "no AES in its processor", None: "AES not known"}
        speeds = ", ".join(f"{c} {rate_words(r)}" for c, r in (found.ciphers if found is not None else ()))
        ciphers.append(f"{name}: {aes[facts.host(name)[Capability].aes]}{f', {speeds}' if speeds else ''}")
    blind = bool(on) and advice.road.cipher is None
    return Check(
        code="CIPHER",
        title="Cost of encryption",
        verdict=verdict((), (on and slow) or blind),
        not_known=blind and not slow,
        evidence="; ".join([f"TLS on {listed(on)}" if on else "the SST is not encrypted", *ciphers]),
        why=f"socat encrypts with one thread, using {TLS_CIPHER} if both support it; without AES in the processor "
        "chacha20 is two to three times as fast.",
        try_=("Set a cipher for socat by sockopt: chacha20 if a processor has no AES.",) if on and slow else (),
    )


def share(facts: Facts, advice: Advice, values: Inputs) -> Check:
    """A share of the network is kept by pv alone: without it the script leaves rlimit out, silently."""
    members = member_hosts(facts)
    lacking = [name for name in members if "pv" not in facts.host(name)[Tools].there]
    wanted = values["goal"] == GENTLE
    share_text = "not asked for" if not wanted else f"{values['network_share']} % by rlimit" if advice.limited else ""
    return Check(
        code="NETWORK-SHARE",
        title="The network share can be enforced",
        verdict=verdict((), wanted and lacking),
        evidence=share_text
        or f"no pv on {listed(lacking)}: rlimit would be ignored and is not set; the SST uses the whole network",
        why="Clusters became unstable because an SST used up the network of the group's own traffic.",
        try_=("Install pv on every node, or use a separate network for SSTs (wsrep_sst_receive_address).",)
        if wanted and lacking
        else (),
    )


def dedicated_donor(facts: Facts, joiner: str) -> Check:
    """Propose the member with the fewest clients as everybody's donor, as it would be written."""
    others = [name for name in member_hosts(facts) if name != joiner]
    known = {name: facts.host(name)[Sessions].clients for name in others}
    best = min(others, key=lambda n: (known[n] is None, known[n] or 0, n), default="")
    name = facts.host(best).node_name or best
    cores = facts.host(best)[Capability].cores or 0
    more = f"; with {cores} cores pigz may be used on it" if cores >= PIGZ_CORES else ""
    sessions = ", ".join(f"{n} {'not known' if c is None else c}" for n, c in known.items())
    return Check(
        code="DEDICATED-DONOR",
        title="A donor that serves no application",
        verdict=verdict(()),
        evidence=f'proposed: wsrep_sst_donor = "{name}," on the others (client sessions now: {sessions}){more}',
        why="A dedicated donor took 18.5 min, a shared one 21 min (50 GB, a load of 32 threads; an example, not a "
        "promise). The trailing comma allows a joiner another donor while this one is busy.",
    )
