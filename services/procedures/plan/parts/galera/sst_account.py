"""Whether the account of wsrep_sst_auth can do what an SST's script does with it: its rights, and its login."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from services.connections.reads import commands, statements
from services.facts.server.client_programs import login_refused
from services.facts.server.sessions import AccountState, sst_account_of
from services.procedures.plan.part import Part, Reading, Turn, Way
from services.procedures.plan.parts.server.options import Options

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class SstAccount(Part):
    """Read from the grants of all accounts, by whoever sees them; then its login is tried as root, over SSH.

    Attributes:
        state: 'ok': it logs in and has its rights; '': not known; else what is wrong: 'not-local': it may not log in
            from localhost, 'lacks-rights', 'refused': the server refuses the password of its files.
        sentence: what is wrong, for people; '' where nothing is, or where it is not known.
    """

    way: ClassVar[Way] = Way.GALERA
    turn: ClassVar[Turn] = Turn.RIGHTS
    made_from: ClassVar[tuple[type[Part], ...]] = (Options,)

    state: AccountState | Literal["refused"] = ""
    sentence: str = ""

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part. The observer rarely sees other accounts' rights, the account for changes does."""
        user = host[Options].sst_user
        if not user:
            return None
        for eyes in (reading, reading.operator):
            rows = eyes.query("sst-account", statements.RIGHTS_OF_ALL) if eyes is not None else None
            state, sentence = sst_account_of(rows.rows, user) if rows is not None else ("", "")
            if state == "ok":
                return cls._login(host, reading, user)
            if state:
                return cls(state, sentence)
        reading.note(
            "sst-account", "No account of the inventory can read the privileges of other accounts.", "not-visible"
        )
        return None

    @classmethod
    def _login(cls, host: HostFacts, reading: Reading, user: str) -> Self | None:
        """Try the login as an SST's script does it; None where that could not be: rights show nothing of a password."""
        output = reading.run("sst-login", commands.SST_LOGS_IN, limit_s=10.0) if host.server_up is not False else None
        if output is None or (reading.sudo_works is not True and not host.is_root):
            reading.note(
                "sst-account", "It has its privileges; its password was not tested, which only root may do.", "sudo"
            )
            return None
        said = output.error_text[:200]
        if output.exit_code == 0:
            return cls("ok")
        if login_refused(said):
            who = f"the server of {host.host} refuses the SST account {user}"
            return cls("refused", f"{who} with the password of its files")
        sentence = f"It has its privileges; its login could not be tested: {said or output.exit_code}."
        reading.note("sst-account", sentence, "")
        return None
