"""What a new node needs of a donor's option files and is not copied, a secret or odd: a person sets it by hand. Pure.

Only `wsrep_sst_auth` is copied, from host to host when the step acts. Of every other value that is, or may hold, a
secret the console keeps its name alone (harmless_options.py), so it can't write it into the new node's file.
Sources: MariaDB KB "mariadb-backup SST Method", TLS; Percona XtraDB Cluster manual, "XtraBackup SST Configuration":
the script that encrypts ends without its key.
"""

from __future__ import annotations

from services.connections.command import MASK
from services.facts.server.plain_options import is_plain
from services.procedures.catalogue.checks.parts import unread_options
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.server.options import Options


def may_copy(section: str, option: str, value: str) -> bool:
    """Return whether an option is copied: its value is known as a whole, nothing in it was masked, and it is plain."""
    return MASK not in value and is_plain(section, option, value)


def left_out(facts: Facts, donor: str, wanted: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return (section, option) of what the new node should have and does not get: its value holds a secret, or is not
    plain.

    Args:
        wanted: the options of [mysqld] that make nodes one cluster; of [sst] it is all of them.
    """
    found = [
        (section, option)
        for section, option, value in facts.host(donor)[Options].given
        if not may_copy(section, option, value) and (section == "sst" or (section == "mysqld" and option in wanted))
    ]
    return tuple(dict.fromkeys(found))


def set_by_hand(facts: Facts, joiner: str, donor: str, wanted: tuple[str, ...]) -> Check:
    """What is left out stands in the joiner's own files, written by a person; that it is the same can't be seen.

    Without it the joiner's script of an SST that encrypts ends, or the provider does not reach its group: that blocks.
    In an [sst] section that does not encrypt nobody knows what a secret is for: that warns. What is not plain is needed
    on both sides: a donor that packs and a joiner that does not unpack end in the middle.
    """
    names, own = left_out(facts, donor, wanted), facts.host(joiner)
    missing = [(section, option) for section, option in names if own[Options].option(section, option) is None]
    needed = [
        one for one in missing if one[0] == "mysqld" or _encrypts(facts.host(donor)) or not _masked(facts, donor, one)
    ]
    there = [one for one in names if one not in missing]
    said = [
        f"{_named(one)} of {donor} {_why(facts, donor, one)}; the files of {joiner} do not have it" for one in missing
    ]
    said += [f"{_named(one)} is set in the files of {joiner}; it is not compared with {donor}" for one in there]
    blind = unread_options(facts.host(donor))
    return Check(
        code="SST-SECRETS",
        title=f"{joiner} has the secrets that the run does not copy from {donor}",
        verdict=Verdict.BLOCK if needed else Verdict.WARN if missing or blind else Verdict.PASS,
        not_known=bool(blind) and not missing,
        evidence="; ".join([*said, *blind]) or f"the files of {donor} contain no secret except the SST account",
        why="The console stores no secrets and cannot write them: an encrypted SST fails without its key, after the "
        "joiner's data were erased.",
        try_=tuple(
            f"Write {option} under [{section}] into the option files of {joiner}, with the value of {donor}, before "
            "the start."
            for section, option in missing
        ),
        host=joiner,
    )


def _why(facts: Facts, donor: str, one: tuple[str, str]) -> str:
    if _masked(facts, donor, one):
        return "is a secret and is not copied"
    return "is not copied: the option is unknown, or its value is not plain text"


def _masked(facts: Facts, donor: str, one: tuple[str, str]) -> bool:
    return MASK in (facts.host(donor)[Options].option(*one) or "")


def _encrypts(host: HostFacts) -> bool:
    return (host[Options].option("sst", "encrypt") or "0") != "0"


def _named(one: tuple[str, str]) -> str:
    return f"[{one[0]}] {one[1]}"
