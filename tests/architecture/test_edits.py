"""To add a procedure or a condition nothing else is edited; and the measure does find a register where there is one."""

from __future__ import annotations

from tests.architecture.edits import (
    OWN_FILE,
    conditions,
    facts_edited,
    fields_of_parts,
    parts,
    parts_edited,
    procedures,
    production,
    registers,
    table,
)

REGISTER = "services/procedures/planted.py"


def test_that_no_file_of_production_lists_the_procedures() -> None:
    assert len(procedures()) >= 5
    assert registers(procedures(), production()) == ()


def test_that_no_file_of_production_lists_the_conditions() -> None:
    assert len(conditions()) >= 25
    assert registers(conditions(), production()) == ()


def test_that_no_file_of_production_lists_the_parts_of_facts() -> None:
    assert len(parts()) >= 20
    assert parts_edited(production()) == ()


def test_that_a_fact_of_a_plan_edits_its_part_s_own_file_alone() -> None:
    assert len(fields_of_parts()) >= 50
    assert facts_edited(production()) == (OWN_FILE,)


def test_that_a_register_of_any_spelling_is_found() -> None:
    for at in (0, -1):
        names = " ".join(thing.names[at] for thing in procedures())
        assert registers(procedures(), {REGISTER: names}) == (REGISTER,)
        most = conditions()[: 4 * len(conditions()) // 5]
        assert registers(conditions(), {REGISTER: " ".join(thing.names[at] for thing in most)}) == (REGISTER,)
        assert parts_edited({REGISTER: " ".join(thing.names[at] for thing in parts())}) == (REGISTER,)
    listed = " ".join(thing.names[0] for thing in fields_of_parts())
    assert facts_edited({REGISTER: listed}) == (OWN_FILE, REGISTER)


def test_that_the_table_has_a_row_for_each_thing() -> None:
    assert table().count("\n| a ") == 5
