"""Acts by one statement or one command."""

from __future__ import annotations

from services.connections.ports import Rows, text
from services.procedures.engine.ports import Acted
from services.procedures.execute.acting_output import judged
from services.procedures.execute.site import Site
from services.procedures.plan.actions import Run, Sql
from services.procedures.plan.wording import wording

_MOST_ROWS = 20


def execute_sql(site: Site, action: Sql) -> Acted:
    """Run the statement."""
    rows = site.session.execute(action.statement, limit_s=site.limit_s)
    return Acted((*wording(action), *site.masks.lines(_table(rows))))


def run_command(site: Site, action: Run) -> Acted:
    """Run the command, and judge what it left."""
    output = site.session.run(action.command, limit_s=site.limit_s)
    return judged(
        action.command.brief,
        (output.exit_code, output.text, output.stderr.decode("utf-8", "replace")),
        host=site.host,
        ok=action.ok,
        keep=action.keep,
        pattern=action.pattern,
        masks=site.masks,
    )


def _table(rows: Rows) -> str:
    return "\n".join("\t".join(text(value) for value in row) for row in (rows.columns, *rows.rows)[: _MOST_ROWS + 1])
