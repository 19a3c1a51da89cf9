"""A member's own name is written by root into another member's option file, as its donor: it is a name, or refused.

wsrep_node_name is a server's word: SUPER sets it, and it may hold line breaks. A plan of rolling-restart had every
check passed, and wrote `plugin_load_add=x` and `[client]` into the files of the two others (MariaDB 10.11.18, tried).
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.errors import BadInput
from services.facts.plain_names import is_donor_name
from services.procedures.catalogue.steps.donor import forget_donor, name_donor
from tests.unit.procedures.host_of import host_of

_ODD = (
    "s3\nplugin_load_add=x\n[client]\nplugin-dir=/tmp\n#",
    "s3\rinit_file=/tmp/x",
    "s3\x85x",
    "s3\u2028x",
    "s3\x00",
    "s3\x1b[2J",
    "s3\u202etxet",
    "s3,s1",
    "s3 # x",
    "s3;x",
    '"s3',
    "'s3'",
    "s3\\n",
    "=x",
    "[client]",
    "!include /tmp/x",
    "-x",
    " s3",
    "s3 ",
    "s3\n",
    "s" * 65,
)


@pytest.mark.parametrize("name", _ODD)
def test_that_what_a_member_calls_itself_is_no_line_of_anothers_option_file(name: str) -> None:
    host = replace(host_of("n1"), address="10.0.0.1")
    for step in (name_donor, forget_donor):
        with pytest.raises(BadInput) as refused:
            step(host, name)
        assert refused.value.try_
        assert "\n" not in refused.value.sentence


@pytest.mark.parametrize("name", ["s3", "db-3.example.net", "n_3", "Knoten-ü", "node 3 (dc2)", "10.0.0.3:3306", "a"])
def test_that_a_name_that_people_give_their_members_is_taken(name: str) -> None:
    assert is_donor_name(name)
    assert name_donor(host_of("n1"), name).step_id == "name-donor-n1"
