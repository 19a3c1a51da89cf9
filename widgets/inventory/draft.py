"""What a person filled into the connection form: an inventory entry, and the secrets typed beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from services.inventory.model import HostEntry
from services.secrets import Secret, SecretRef


@dataclass(frozen=True, slots=True)
class HostDraft:
    """The form's outcome.

    Attributes:
        entry: refers to typed secrets by `keyring:` names where `keep` is set, else by `env:` names; holds none itself.
        secrets: what was typed, under those names; only for memory unless `keep` asks for the system's keyring.
        replaces: the name of the entry being edited, '' for a new one.
    """

    entry: HostEntry
    secrets: tuple[tuple[SecretRef, Secret], ...] = ()
    keep: bool = False
    replaces: str = ""


class StepLike(Protocol):
    """One step of a connection test; `services.connections.probe.test.Step` fits."""

    @property
    def name(self) -> str:
        """Return what tells it from the others, '' where its title does."""

    @property
    def title(self) -> str:
        """Return what was tried."""

    @property
    def state(self) -> str:
        """Return 'passed', 'failed', 'warned', 'skipped', 'running' or 'waiting'."""

    @property
    def sentence(self) -> str:
        """Return what happened."""

    @property
    def try_(self) -> tuple[str, ...]:
        """Return what to try."""


@dataclass(frozen=True, slots=True)
class StepLine:
    """A step made by the window itself, while the test runs."""

    title: str
    state: str
    sentence: str = ""
    try_: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class HostKey:
    """The question: is this the host's key?"""

    host: str
    key_type: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class ServerCertificate:
    """The question: is this the server's certificate? why: what is wrong with it; subject: what it calls itself."""

    host: str
    port: int
    fingerprint: str
    subject: str
    why: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A host found in another program's settings. `note` says what could not be taken over, or why it is not ticked."""

    entry: HostEntry
    source: str
    note: str = ""
    ticked: bool = True
