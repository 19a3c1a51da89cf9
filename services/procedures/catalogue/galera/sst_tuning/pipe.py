"""The pipe test: what the donor's compressor packs, the joiner's decompressor unpacks, over the port of an SST. Pure.

A known stream is sent through it and its SHA-256 comes back over the same connection; nothing is written on either
end. It stands between the hold of joins and the first changed file: what does not work is never set.
"""

from __future__ import annotations

from services.connections.command import Command
from services.procedures.catalogue.galera.sst_tuning.measuring import SST_PORT, listens, receives_at
from services.procedures.catalogue.steps.listener import Listener, open_for_a_trial, opened
from services.procedures.plan.actions import Detached, Run
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.parts.galera.data_folder import DataFolder

LINES = 8_000_000
DIGEST = "2b5e054aa4683eaacb357fd203cacfd32373c23269c36ee0ff47ccf3e13bbb48"
"""SHA-256 of `seq 1 8000000`: 63 MB."""
LIMIT_S = 60
PIPE = rf"""export LC_ALL=C; set -o pipefail
address=$1 port=$2; shift 2
sleep 1
seq 1 {LINES} | timeout {LIMIT_S} "$@" | timeout {LIMIT_S} socat -t {LIMIT_S} - "TCP:$address:$port,connect-timeout=5"
"""
"""Words: address, port, the compressor's words. Prints what the joiner answers: the digest of what it unpacked."""


SMALL, SMALL_DIGEST = 100_000, "b2bc7d3f8b652d2ec96865b68ad8f80e22cca174abe1aed7889e242a747d590f"
"""The same of `seq 1 100000`, tried on each node by itself."""
LOCAL = rf"""export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; set -o pipefail
seq 1 {SMALL} | timeout {LIMIT_S} $1 | timeout {LIMIT_S} $2 | sha256sum
"""
"""Words: compressor and decompressor, each one word that is split here. Run as the server's user, with its PATH."""


def on_each(facts: Facts, members: tuple[str, ...], compressor: str, decompressor: str) -> tuple[Step, ...]:
    """Return a step for each node: what it packs as the server's user it unpacks itself."""
    return tuple(_alone(facts.host(name), compressor, decompressor) for name in members)


def _alone(host: HostFacts, compressor: str, decompressor: str) -> Step:
    name, owner = host.host, str(host[DataFolder].owner or "mysql")
    user = ("setpriv", f"--reuid={owner}", f"--regid={owner}", "--clear-groups")
    return Step(
        step_id=f"packs-{name}",
        host=name,
        title=f"Compress and decompress with '{compressor}' and '{decompressor}' on {name}, as its server's user",
        done=f"The server of {name} can compress and decompress",
        why="Each node may be donor or joiner; if the server does not find a program, a transfer fails half way.",
        action=Run(
            Command((*user, "bash", "-c", LOCAL, "pilothouse", compressor, decompressor), sudo=True),
            pattern=rf"^{SMALL_DIGEST}  -$",
        ),
        risk=Risk.READS,
        limit_s=2.0 * LIMIT_S,
        repeatable=True,
        estimate_s=1.0,
    )


def pipe_test(facts: Facts, donor: str, joiner: str, compressor: str, decompressor: str) -> tuple[Step, ...]:
    """Return the three steps: the joiner's end, the stream from the donor, the end again."""
    place = receives_at(facts.host(joiner))
    assert place is not None
    port = place[1]
    words = ("-t", str(LIMIT_S), listens(facts, donor, joiner, place), f"SYSTEM:{decompressor} | sha256sum")
    listener = Listener(joiner, f"pilothouse-sst-pipe-{SST_PORT}", 2 * LIMIT_S, words, "nobody")
    pipe = open_for_a_trial(
        listener,
        key=f"pipe:{joiner}",
        sentence=f"a test pipe open on {joiner}",
        danger="it decompresses and discards received data, and closes automatically within two minutes",
    )
    step = Step(
        step_id=f"pipe-{joiner}",
        host=joiner,
        title=f"Open port {port} on {joiner} with '{decompressor}' for a test",
        done=f"{joiner} decompresses the data received on port {port}",
        why=f"Received data are decompressed and counted, never stored. It closes automatically after {2 * LIMIT_S} s. "
        f"Joins are blocked: no other process needs port {port} now.",
        action=opened(listener),
        proof=(listener.runs,),
        limit_s=30.0,
        repeatable=True,
        estimate_s=1.0,
    )
    return (
        pipe.on(step, f"Close the pipe of {joiner}"),
        _sent(donor, joiner, place, compressor),
        pipe.off(f"unpipe-{joiner}", f"Close the pipe of {joiner}", f"The pipe of {joiner} is closed", 1.0),
    )


def _sent(donor: str, joiner: str, place: tuple[str, int], compressor: str) -> Step:
    words = ("bash", "-c", PIPE, "pilothouse", place[0], str(place[1]), *compressor.split())
    return Step(
        step_id=f"through-{donor}",
        host=donor,
        title=f"Send 63 MB through '{compressor}' from {donor} to {joiner}, and compare the result",
        done=f"{joiner} decompresses the data of {donor} byte for byte",
        why="Verified before it is set: with programs that do not match, every transfer fails, even for an IST. This "
        "changes nothing.",
        action=Detached(Command(words), name=f"pipe-{donor}", pattern=rf"^{DIGEST}  -$"),
        risk=Risk.READS,
        limit_s=2.0 * LIMIT_S,
        repeatable=True,
        estimate_s=5.0,
    )
