"""Acts on files, as a plan names them: each keeps a digest of what it wrote, by which an undo knows it again.

How a file is changed and put back is in acting_files.py. Plans name secrets; only here are they fetched.
"""

from __future__ import annotations

from services.connections.command import Command
from services.facts.server.harmless_options import normal
from services.facts.server.option_files import printed
from services.i18n import tr
from services.procedures.engine.ports import Acted, ActFailed, Untouched
from services.procedures.execute.acting_files import Restored
from services.procedures.execute.acting_pairs import put_pair
from services.procedures.execute.option_edit import option_value
from services.procedures.execute.site import Site
from services.procedures.looking.files import digest, wrote_name
from services.procedures.plan.actions import (
    CopiedSecret,
    EditOptions,
    EditYaml,
    PutFile,
    PutPair,
    RemoveFile,
    RestoreFile,
)
from services.procedures.plan.wording import wording
from services.secrets import Secret

_READ_S = 15.0


def edit_options(site: Site, action: EditOptions) -> Acted:
    """Set or remove options; a secret leaves no digest."""
    options = tuple((name, _revealed(site, value)) for name, value in action.options)
    secret = any(isinstance(value, CopiedSecret) for _, value in action.options)
    changed = site.files.edit(action.path, action.section, options, secret=secret)
    return _edited(site, action, changed=changed, wrote="" if secret else site.files.wrote(action.path))


def edit_yaml(site: Site, action: EditYaml) -> Acted:
    """Set or remove settings; one that is not needed may be refused."""
    try:
        changed = site.files.edit_yaml(action.path, action.settings)
    except Untouched as problem:
        if action.needed:
            raise
        return Acted((*wording(action), tr("not changed: {why}", why=problem.sentence)))
    return _edited(site, action, changed=changed, wrote=site.files.wrote(action.path))


def _edited(site: Site, action: EditOptions | EditYaml, *, changed: bool, wrote: str) -> Acted:
    said = () if changed else (tr("nothing to change: the file contains these values already"),)
    kept = ((wrote_name(site.host, action.path), digest(wrote)),) if wrote else ()
    return Acted((*wording(action), *said), kept)


def put_file(site: Site, action: PutFile) -> Acted:
    """Make or replace a file."""
    site.files.put(action.path, _content(site, action), action.mode, action.owner)
    return Acted(wording(action))


def put_pair_files(site: Site, action: PutPair) -> Acted:
    """Put CA, certificate and key on the host."""
    files = site.files
    put_pair(action, site.hosts.operator, site.host, site.clock.wall(), files.keep_digest)
    return Acted(wording(action), tuple((wrote_name(site.host, path), files.digest_of(path)) for path in action.paths))


def remove_file(site: Site, action: RemoveFile) -> Acted:
    """Remove a file; of one that this run put, only what it put."""
    if action.wrote:
        return _restored(site, action, site.files.withdraw(action.path, action.wrote))
    if action.put:
        return _restored(site, action, site.files.withdraw_put(action.path))
    site.files.remove(action.path)
    return Acted(wording(action))


def restore_file(site: Site, action: RestoreFile) -> Acted:
    """Put a file back as it was before the run."""
    return _restored(site, action, site.files.restore(action.path, whole=action.whole))


def _restored(site: Site, action: RemoveFile | RestoreFile, restored: Restored) -> Acted:
    kept = ((wrote_name(site.host, action.path), restored.digest),) if restored.digest else ()
    return Acted((*wording(action), *filter(None, (restored.said, restored.stays))), kept, restored.stays)


def _content(site: Site, action: PutFile) -> Secret:
    """Return a file's content; in an option file a secret is quoted as the file's grammar wants."""
    parts = []
    for part in action.content:
        value = _revealed(site, part)
        assert value is not None
        quoted = isinstance(part, CopiedSecret) and action.path.endswith(".cnf")
        parts.append(option_value(value) if quoted else value)
    return Secret("".join(parts))


def _revealed(site: Site, value: str | CopiedSecret | None) -> str | None:
    """Return a value; one that is copied is read from the option files of its host."""
    if not isinstance(value, CopiedSecret):
        return value
    session = site.hosts.operator(value.host)
    # --mysqld: all groups that the server itself reads (man my_print_defaults(1)); MySQL's has no such option.
    asked = (("--mysqld",), ("mysqld", "server")) if value.section == "mysqld" else ((value.section,),)
    for groups in asked:
        for show in ((), ("--show",)):  # MySQL's masks passwords unless told to show them; MariaDB's knows no --show
            output = session.run(Command(("my_print_defaults", *show, *groups), sudo=True), limit_s=_READ_S)
            secret = printed(output.text).get(normal(value.option)) if output.exit_code == 0 else None
            if secret and set(secret) != {"*"}:
                site.masks.learn(secret)
                return secret
    raise ActFailed(
        tr("The option files of {host} have no {option} in [{section}] to copy.", host=value.host,
           option=value.option, section=value.section),
        host=value.host,
    )  # fmt: skip
