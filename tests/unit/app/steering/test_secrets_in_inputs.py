"""No password that a person types into a form, or gives as a reason, comes into the journal. On scripted hosts."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from services.procedures.catalogue import all_procedures
from services.procedures.plan.forms.inputs import field_faults, holds_secret
from services.procedures.plan.procedure import Procedure
from tests.faults.scripted.cluster import whole
from tests.faults.scripted.facts import facts_of
from tests.unit.app.steering_service import DESYNC, Shell

SECRET = "hunter2"
TYPED = (
    f"password={SECRET}",
    f"wsrep_sst_auth = sst:{SECRET}",
    f"SET PASSWORD FOR app = PASSWORD('{SECRET}')",
    f"mysql://app:{SECRET}@db1/orders",
    f"see --password {SECRET} of app",
)
PLAIN = ("kernel 6.1, ticket 812", "new password policy", "/etc/mysql/conf.d/zz.cnf", "400 connections, for the sale")


@pytest.mark.parametrize("procedure", all_procedures(), ids=lambda p: p.about.name)
@pytest.mark.parametrize("text", TYPED)
def test_that_no_input_of_any_procedure_takes_a_password(procedure: Procedure, text: str) -> None:
    seen = facts_of(whole("n1", "n2", "n3", spare="new"))
    for field in procedure.fields(seen, {}):
        found = [fault for fault in procedure.faults(seen, {field.name: text}) if fault.field == field.name]
        assert found, field.name
        assert SECRET not in found[0].sentence, field.name


@pytest.mark.parametrize("text", PLAIN)
def test_that_ordinary_words_are_no_password(text: str) -> None:
    assert not holds_secret(text)


def journal(shell: Shell) -> str:
    path = shell.folder / "state.sqlite"
    if not path.exists():
        return ""
    with closing(sqlite3.connect(path)) as base:
        return "".join(str(row) for row in base.execute("SELECT * FROM procedure_entry"))


@pytest.mark.parametrize("words", [("--input", f"reason={TYPED[0]}"), ("--override", f"CLOCKS={TYPED[0]}")])
def test_that_a_run_with_a_password_in_its_words_is_refused_before_it_is_journalled(
    shell: Shell, words: tuple[str, str]
) -> None:
    said = shell("run", "rolling-restart", *words, "--yes")
    assert said.code != 0
    assert "contain a password" in said.err
    assert SECRET not in said.out + said.err + journal(shell)


def test_that_a_run_is_not_left_for_a_reason_with_a_password_in_it(shell: Shell) -> None:
    with shell.typing("yes"):
        assert shell("run", *DESYNC).code == 4
    said = shell("undo", "1", "--leave", TYPED[0], "--yes")
    assert "contain a password" in said.err
    assert SECRET not in journal(shell)
    assert shell("undo", "1", "--leave", "the backup tool is gone", "--yes").code == 0


def test_that_every_kind_of_field_is_looked_at_before_its_own_rule_repeats_what_was_typed() -> None:
    seen = facts_of(whole("n1", "n2", "n3"))
    for procedure in all_procedures():
        fields = procedure.fields(seen, {})
        sentences = [fault.sentence for fault in field_faults(fields, {field.name: TYPED[0] for field in fields})]
        assert sentences
        assert not any(SECRET in sentence for sentence in sentences)
