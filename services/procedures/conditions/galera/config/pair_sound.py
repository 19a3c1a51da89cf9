"""A pair of certificate and key that a state transfer is to use: on a host, and in files of the workstation."""

from __future__ import annotations

from services.connections.reads import commands
from services.errors import BadInput
from services.facts.transfer.certificate_files import parse_pair
from services.facts.transfer.certificates import PairSeen, days_of, faults_of
from services.procedures.looking.local_pair import local_pair
from services.procedures.plan.condition import Answer, Condition, Declared, Kept, OfHost, condition, names
from services.procedures.plan.looks import Asking


@condition("galera.pair-sound", "a complete and valid certificate and key on {host}")
class PairSound(OfHost):
    """CA, certificate and key lie on a host, belong together, are valid, and only the server's user reads the key.

    Attributes:
        as_on: it is the pair whose digest the run kept: the same on every node; None: any.
        keep: under which name its digest is kept.
    """

    ca: str
    cert: str
    key: str
    as_on: Kept | None = None
    keep: str = ""

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), keeps=names(self.keep))

    def look(self, asking: Asking) -> Answer:
        """Read the certificates, and of the key a digest of its public half."""
        paths = (self.ca, self.cert, self.key)
        output = asking.run(self.host, commands.TLS_PAIR.read(*paths, sudo=True), limit_s=20.0)
        pair = parse_pair(output.text, paths)
        if pair is None:
            evidence = output.error_text or f"exit code {output.exit_code}"
            return Answer(holds=None, evidence=f"certificate and key on {self.host} could not be read: {evidence}")
        found = judged(pair, asking.clock.wall(), self.host)
        if not found.holds:
            return found
        wanted = asking.past.kept.get(self.as_on.name) if self.as_on is not None else pair.digest
        if wanted != pair.digest:
            return Answer(holds=False, evidence=f"on {self.host} is a different pair, not this run's")
        return Answer(True, found.evidence, kept=((self.keep, pair.digest),) if self.keep else ())


@condition("galera.local-pair-sound", "a complete and valid certificate and key in this workstation's files")
class LocalPairSound(Condition):
    """The pair in files of the workstation belongs together and is valid; nobody else there reads the key."""

    ca: str
    cert: str
    key: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset())

    def look(self, asking: Asking) -> Answer:
        """Read the files; nothing of them is kept."""
        try:
            pair = local_pair(self.ca, self.cert, self.key)
        except BadInput as problem:
            return Answer(holds=False, evidence=problem.sentence, final=True)
        found = judged(pair, asking.clock.wall(), "this workstation")
        return Answer(found.holds, found.evidence, final=not found.holds)


def judged(pair: PairSeen, now: float, where: str) -> Answer:
    """Return whether a pair would do, and why not; what is only told (it expires soon) is told."""
    now = pair.now if pair.now is not None else now  # a host's own clock is what its scripts go by
    faults = faults_of(pair, now)
    if bad := [fault.sentence for fault in faults if fault.blocks]:
        return Answer(holds=False, evidence=f"on {where}: {'; '.join(bad)}", lines=tuple(bad))
    ends = pair.ends
    evidence = "; ".join(
        (f"valid for {days_of(ends - now)}" if ends is not None else "", *(f.sentence for f in faults))
    )
    return Answer(holds=True, evidence=f"certificate and key on {where} match: {evidence.strip('; ')}")
