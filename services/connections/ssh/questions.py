"""Keyboard-interactive (RFC 4256): the one question that a login's password answers; every other is refused unanswered.

The host makes the questions up as it goes on. A one-time code, a new password or a second secret is not the password,
and a password typed there stands in the wrong log. As curl and WinSCP do, only a single hidden question of the first
round counts; here its words must ask for a password, too.
"""

from __future__ import annotations

import re

import paramiko

from services.i18n import tr
from services.visible import as_line

_MOST_SHOWN = 80
_MOST_PLAIN = 120
"""A prompt has a line; a page of text that also says 'password' is none."""
_PASSWORD = (
    "password", "passwort", "kennwort", "mot de passe", "contraseña", "senha", "palavra-passe", "wachtwoord",
    "lösenord", "passord", "adgangskode", "salasana", "hasło", "heslo", "jelszó", "parola", "пароль", "パスワード",
    "密码", "密碼", "암호",
)  # fmt: skip
"""What PAM's and sshd's own translations call it; the C locale, which sshd usually has, says 'Password:'."""
_ELSE = re.compile(
    r"\b(?:one|otp|totp|hotp|oath|code|token|pin|passcode|verification|second|factor|2fa|mfa|sms|push|yubikey|duo"
    r"|new|retype|reenter|again|repeat|confirm|change|expired|old|current|neues|nouveau|nueva|sudo)\b"
)


class OtherQuestion(paramiko.SSHException):
    """The host asked for something else than the password; nothing was answered. `asked` is fit to be shown."""

    def __init__(self, asked: str) -> None:
        super().__init__("the question is for something else than a password")
        self.asked = asked


class PasswordExpired(paramiko.SSHException):
    """The host wants a new password before it lets in: SSH_MSG_USERAUTH_PASSWD_CHANGEREQ (RFC 4252, section 8)."""

    def __init__(self) -> None:
        super().__init__("the password has expired")


class PasswordQuestion:
    """The answers of one keyboard-interactive login: the password, once, or OtherQuestion."""

    def __init__(self, password: str) -> None:
        self._password = password
        self._answered = False
        self.refused: OtherQuestion | None = None

    def __call__(self, _title: str, _instructions: str, prompts: list[tuple[str, bool]]) -> list[str]:
        """Answer one round. A round without questions only tells something (RFC 4256, section 3.2)."""
        if not prompts:
            return []
        asked, echoed = prompts[0]
        if len(prompts) > 1:
            others = [text for text, seen in prompts if seen or not asks_for_a_password(text)]
            raise self._refusal(others[0] if others else asked)
        if self._answered or echoed or not asks_for_a_password(asked):
            raise self._refusal(asked)
        self._answered = True
        return [self._password]

    def _refusal(self, asked: str) -> OtherQuestion:
        self.refused = OtherQuestion(_shown(asked))
        return self.refused


def asks_for_a_password(prompt: str) -> bool:
    """Return whether a prompt plainly asks for the login's password."""
    if len(prompt) > _MOST_PLAIN:
        return False
    said = prompt.casefold()
    return any(word in said for word in _PASSWORD) and _ELSE.search(said) is None


def _shown(prompt: str) -> str:
    line = as_line(prompt, _MOST_SHOWN)
    return f'"{line}"' if line else tr("an empty question")
