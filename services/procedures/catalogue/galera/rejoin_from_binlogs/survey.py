"""What a run found out of the backup and the binary logs: its survey, kept by the run, judged once. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from services.facts.binlog.chain import Backup, Chain, Wrong, chain_of
from services.facts.binlog.survey import parse_survey
from services.procedures.plan.host_facts import Facts


def survey_name(host: str) -> str:
    """Return the name under which a run keeps what the program told."""
    return f"survey-{host}"


@dataclass(frozen=True, slots=True)
class Survey:
    """The backup and the chain of binary logs from it on; `chain.wrong` is what speaks against them."""

    backup: Backup
    chain: Chain

    @property
    def whole(self) -> bool:
        """Return whether a plan can be made of it: a target, and where to begin."""
        return self.chain.target is not None and self.chain.when is not None and bool(self.chain.files)


def survey_of(facts: Facts, host: str) -> Survey | Wrong:
    """Return what this run found, or why nothing can be made of it."""
    output = facts.value(survey_name(host))
    found = parse_survey(output) if output is not None else Wrong("BINLOG-UNREAD", "the files were not read")
    if isinstance(found, Wrong):
        return found
    backup, files = found
    chain = chain_of(files, backup)
    if chain.target is not None and (chain.when is None or not chain.recent or chain.recent[-1][0] != chain.target):
        told_by = Wrong("BINLOG-UNREAD", f"server and time of the last transaction {chain.target} are not known")
        chain = replace(chain, wrong=(*chain.wrong, told_by))
    return Survey(backup, chain)
