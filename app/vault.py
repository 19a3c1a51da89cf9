"""The secrets of one run: what was typed stays in memory, everything else comes from where its reference points."""

from __future__ import annotations

from services.errors import SecretMissing
from services.secrets import MemoryVault, Secret, SecretRef, SystemVault


class SessionVault:
    """A Vault whose memory is asked first; `keep` also writes to the OS keyring."""

    def __init__(self) -> None:
        self._memory = MemoryVault()
        self._system = SystemVault()

    def get(self, ref: SecretRef) -> Secret:
        """Return the secret behind `ref`."""
        try:
            return self._memory.get(ref)
        except SecretMissing:
            return self._system.get(ref)

    def put(self, ref: SecretRef, secret: Secret) -> None:
        """Remember a secret until the program ends."""
        self._memory.put(ref, secret)

    def keep(self, ref: SecretRef, secret: Secret) -> None:
        """Remember it, and store it in the OS keyring; raise UserError when the keyring refuses."""
        self._memory.put(ref, secret)
        self._system.put(ref, secret)
