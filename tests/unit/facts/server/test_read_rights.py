"""What an account may read, from SHOW GRANTS: patterns of schemas, columns, roles, rights taken away in part."""

from __future__ import annotations

import pytest

from services.facts.server.read_rights import ReadRights, parse_read_rights

USAGE = "GRANT USAGE ON *.* TO `observer`@`%` IDENTIFIED BY PASSWORD '*0123'"


@pytest.mark.parametrize(
    ("line", "able"),
    [
        ("GRANT SELECT ON *.* TO `observer`@`%`", True),
        ("GRANT SELECT, INSERT ON `shop`.* TO `observer`@`%`", True),
        ("GRANT ALL PRIVILEGES ON `shop`.`a` TO `observer`@`%` WITH GRANT OPTION", True),
        ("GRANT SELECT ON `s%`.* TO `observer`@`%`", True),
        ("GRANT SELECT ON `s_op`.* TO `observer`@`%`", True),
        (r"GRANT SELECT ON `s\_op`.* TO `observer`@`%`", False),
        ("GRANT SELECT ON `shop`.`b` TO `observer`@`%`", False),
        ("GRANT SELECT (`id`) ON `shop`.`a` TO `observer`@`%`", False),
        ("GRANT SELECT ON `shop`.* TO PUBLIC", True),
        ("GRANT SELECT ON `shop`.* TO `readers`", True),
        ("GRANT INSERT ON `shop`.* TO `observer`@`%`", False),
        ("GRANT `readers` TO `observer`@`%`", None),
        ("GRANT SELECT ON *.* TO 'observer'@'%'", True),
    ],
)
def test_that_a_right_counts_for_the_tables_that_its_line_means(line: str, able: bool | None) -> None:
    assert parse_read_rights((USAGE, line)).reads("shop.a") is able


def test_that_a_right_taken_away_in_part_or_no_line_at_all_is_not_known() -> None:
    lines = (USAGE, "GRANT SELECT ON *.* TO `observer`@`%`", "REVOKE SELECT ON `shop`.* FROM `observer`@`%`")
    assert parse_read_rights(lines).reads("shop.a") is None
    assert ReadRights().reads("shop.a") is None


def test_that_the_account_stands_as_a_grant_takes_it() -> None:
    public = "GRANT SELECT ON `sbtest`.* TO PUBLIC"  # as MariaDB 10.11.18 shows it among an account's own
    assert parse_read_rights((public, USAGE)).account == "`observer`@`%`"
