"""What only a person knows of a set that elects: whether clients retry, whether there is a backup."""

from __future__ import annotations

from services.procedures.catalogue.checks.parts import checked
from services.procedures.plan.checks import Check, Remedy
from services.procedures.plan.forms.fields import Field, Inputs
from services.procedures.plan.forms.inputs import flag_of

_CLIENTS, _BACKUP = "Clients retry when a primary steps down", "There is a backup from the last 24 hours"


def questions() -> tuple[Field, Field]:
    """Return the two questions; nobody has said yes to either."""
    return Field("clients", _CLIENTS, "flag", "no"), Field("backup", _BACKUP, "flag", "no")


def confirmed(values: Inputs, *, clients_why: str, backup_why: str) -> tuple[Check, Check]:
    """Return whether a person said so, of both.

    Args:
        clients_why, backup_why: why it matters in this procedure.
    """
    return (
        said("CLIENTS", _CLIENTS, clients_why, values, "clients", "Make sure that every driver retries, then confirm"),
        said("BACKUP", _BACKUP, backup_why, values, "backup", "Make a backup first, then confirm"),
    )


def said(code: str, title: str, why: str, values: Inputs, field: str, advice: str) -> Check:
    """Return whether a person said yes to this field; no is a warning."""
    yes = flag_of(values[field]) is True
    return checked(
        code,
        title,
        warn=[] if yes else ["not confirmed"],
        good="you confirmed it",
        why=why,
        answers=(Remedy(advice, field, ("yes",)),),
    )
