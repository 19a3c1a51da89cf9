"""`python -m tests.faults`: write what faults do to procedures on scripted hosts into resources/docs/faults.md."""

from __future__ import annotations

from tests.fault_page import write_section
from tests.faults.page import HEADING, section


def main() -> None:
    """Replace the section, leave the rest of the page alone."""
    write_section(HEADING, section())


if __name__ == "__main__":
    main()
