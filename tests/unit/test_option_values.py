"""Lines of option files, as the servers' own reader takes them."""

from __future__ import annotations

import pytest

from services.option_values import option_line


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("password=abc#def", "password", "abc"),
        ("password=xYz#1\"q'", "password", "xYz"),
        ("password='a\\'b'", "password", "a'b"),
        ('password = "a # b" # c', "password", "a # b"),
        ("flag # of mine", "flag", ""),
        ("# flag", "", ""),
        ("; flag = 1", "", ""),
        ("path = C:\\snew", "path", "C: new"),
    ],
)
def test_that_a_line_of_an_option_file_is_read_as_my_print_defaults_reads_it(line: str, name: str, value: str) -> None:
    """The first three were held against my_print_defaults of MariaDB 10.11.18."""
    assert option_line(line) == (name, value)
