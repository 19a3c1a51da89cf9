"""A kind of server has one entry in one table of each layer; nobody else asks which kind a server is of."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pytest

from services.connections.server_kinds import SERVER_KINDS
from services.discovery.looks.server_looks import SERVER_LOOKS
from services.facts.machine.daemons import DAEMONS
from services.inventory import fields, kinds
from services.inventory.kinds import FIRST, KINDS
from services.procedures.gather.server_kinds import GATHERED
from services.sampling.server_poll import SERVER_POLLS
from tests.architecture.sources import tree_of, walked

ROOT = Path(__file__).resolve().parents[2]
NAMES = "services/inventory/kinds.py"
TABLES: Mapping[str, Mapping[str, object]] = {
    "services/connections/server_kinds.py": SERVER_KINDS,
    "services/discovery/looks/server_looks.py": SERVER_LOOKS,
    "services/facts/machine/daemons.py": DAEMONS,
    "services/procedures/gather/server_kinds.py": GATHERED,
    "services/sampling/server_poll.py": SERVER_POLLS,
}
"""The table of each layer, beside that of the inventory."""
READ = {code for code, kind in KINDS.items() if kind.read}
CONSTANTS = {name: value.code for name, value in vars(kinds).items() if isinstance(value, kinds.InstanceKind)}
OF_MONGODB = (
    "services/connections/mongo/",
    "services/connections/probe/mongodb.py",
    "services/connections/reads/mongo.py",
    "services/discovery/families/mongodb/",
    "services/discovery/looks/probe_mongodb.py",
    "services/facts/mongodb/",
    "services/procedures/catalogue/mongodb/",
    "services/procedures/conditions/config_servers/",
    "services/procedures/conditions/mongodb/",
    "services/procedures/execute/acting_mongodb.py",
    "services/procedures/plan/parts/mongodb/",
    "services/sampling/mongo_poll.py",
    "services/sampling/mongo_server_poll.py",
    "widgets/topology/inspector/mongodb.py",
)
OWN = (*OF_MONGODB, "services/discovery/families/proxysql/")
"""The folders and files of one kind: here it is meant by its name."""
ASK_FOR_THE_DEFAULT = {
    # A host that has no table of another kind is one of MySQL; [defaults.sql] alone make it so.
    "services/inventory/toml_file.py",
    # The same when it is written: only of the default kind an empty table may be left out.
    "services/inventory/toml_save.py",
}
"""They compare with MYSQL, the kind that nobody has to write down; with no other kind."""
KNOW_ITS_FACTS = {
    # Put together with the other parts of a server's facts: has it a group, is it a member.
    "services/facts/model.py",
    # A server that was heard: of MongoDB by its own part, as of the others by theirs.
    "services/discovery/model.py",
    # What its program is called is told by what it is: a mongod or a mongos.
    "services/discovery/nodes.py",
    # Its own word for its pid, by which it is told from others of the host.
    "services/discovery/shared_hosts.py",
    # It has no channels, and no binary log that others could replicate from.
    "services/discovery/judgement/replication_known.py",
    # The store keeps in which cluster it was seen.
    "services/history/state/rows.py",
    # The rows of its own numbers beside a node.
    "widgets/topology/inspector/content.py",
}
"""Production files elsewhere that read the part of the facts that MongoDB alone has (`NodeFacts.mongo`). A kind with
a part of its own edits these, or those of them that mean it."""
LATE = {
    *("bson", "pymongo", "pymysql", "MySQLdb", "paramiko"),
    *("services.connections.sql.session", "services.connections.mongo.link"),
    *("services.connections.probe.sql", "services.connections.probe.mongodb"),
    *("services.discovery.looks.probe_mongodb", "services.facts.mongodb.reading", "services.sampling.mongo_poll"),
}
"""Drivers, and what asks a server of one kind: loaded where such a server is opened, whatever a table names."""


def _sources(*words: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield the files of production that hold one of these words, as trees."""
    for folder in ("app", "widgets", "services"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if any(word in text for word in words):
                yield path.relative_to(ROOT).as_posix(), tree_of(path)


def lacking(tables: Mapping[str, Collection[str]], read: Collection[str]) -> set[tuple[str, str]]:
    """Return (table, kind) of each kind that is read and has no entry, or has one and is not read."""
    return {(name, code) for name, table in tables.items() for code in set(table) ^ set(read)}


def test_that_every_kind_that_is_read_has_one_entry_in_every_table_and_no_other_has_any() -> None:
    assert lacking(TABLES, READ) == set()


def test_that_a_table_without_a_kind_and_an_entry_of_nobody_are_found() -> None:
    assert lacking({"t": {"mysql", "mongodb"}}, READ) == set()
    assert lacking({"t": {"mysql"}, "u": {*READ, "proxysql"}}, READ) == {("t", "mongodb"), ("u", "proxysql")}
    assert lacking(TABLES, {*READ, "proxysql"}) == {(name, "proxysql") for name in TABLES}


def test_that_a_kind_is_told_from_all_others_by_its_table_and_by_what_it_is_asked_over() -> None:
    read = [kind for kind in KINDS.values() if kind.read]
    assert len({kind.way for kind in read}) == len({kind.speaks for kind in read}) == len(read) == len(FIRST)
    for kind in KINDS.values():
        assert set(kind.fields) <= set(fields.ACCOUNT), kind.code
        assert kind.without <= set(fields.ACCOUNT), kind.code
    assert set(fields.ACCOUNT) == {name for kind in KINDS.values() for name in kind.fields}


def test_that_the_driver_of_each_kind_is_a_module_with_a_connection() -> None:
    for code, entry in SERVER_KINDS.items():
        classes = (
            node for node in tree_of(_file_of(entry.connection().__name__)).body if isinstance(node, ast.ClassDef)
        )
        methods = {one.name for node in classes for one in node.body if isinstance(one, ast.FunctionDef)}
        assert methods >= {"open", "alive"}, code
        assert callable(entry.tester()), code


def _file_of(module: str) -> Path:
    return ROOT / f"{module.replace('.', '/')}.py"


def test_that_the_tables_load_no_driver_and_nothing_that_asks_a_server() -> None:
    # What gathers knows MongoDB's sets: it is loaded when a procedure is opened.
    modules = [path.removesuffix(".py").replace("/", ".") for path in (NAMES, *TABLES) if "/gather/" not in path]
    program = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert loaded.issuperset(modules)
    assert loaded & LATE == set()


def named(tree: ast.Module) -> set[str]:
    """Return the codes of the kinds that a file imports by name, whatever it calls them."""
    taken = {
        alias.name
        for node in walked(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "services.inventory.kinds"
        for alias in node.names
    }
    by_module = {node.attr for node in walked(tree) if isinstance(node, ast.Attribute)} if _has_kinds(tree) else set()
    return {CONSTANTS[name] for name in taken | by_module if name in CONSTANTS}


def _has_kinds(tree: ast.Module) -> bool:
    return any(
        (isinstance(node, ast.ImportFrom) and node.module == "services.inventory" and "kinds" in _names(node))
        or (isinstance(node, ast.Import) and "services.inventory.kinds" in _names(node))
        for node in walked(tree)
    )


def _names(node: ast.ImportFrom | ast.Import) -> set[str]:
    return {alias.name for alias in node.names}


def test_that_no_file_but_the_tables_names_a_kind_that_is_not_the_default() -> None:
    places = {path: named(tree) for path, tree in _sources("inventory.kinds", "inventory import")}
    others = {path for path, found in places.items() if found - {"mysql"} and not path.startswith(OWN)}
    assert others == set(TABLES)


def asked(tree: ast.Module) -> set[str]:
    """Return the codes of the kinds that something is compared with, or looked up by: as a constant or as a word."""
    local = {
        alias.asname or alias.name: CONSTANTS[alias.name]
        for node in walked(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "services.inventory.kinds"
        for alias in node.names
        if alias.name in CONSTANTS
    }
    found: set[str] = set()
    for node in walked(tree):
        for part in _decided_by(node):
            for inner in ast.walk(part):
                if isinstance(inner, ast.Name) and inner.id in local:
                    found.add(local[inner.id])
                if isinstance(inner, ast.Constant) and inner.value in KINDS and _about_kinds(node):
                    found.add(str(inner.value))
                if isinstance(inner, ast.Name) and inner.id in {"MongoAccess", "MongoLink"}:
                    found.add("mongodb")
    return found


def _decided_by(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a branch is taken by: a comparison, the type of something, a case, the keys of a table."""
    if isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    elif (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"isinstance", "issubclass"}
    ):
        yield from node.args[1:]
    elif isinstance(node, ast.MatchValue):
        yield node.value
    elif isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key is not None and not isinstance(key, ast.Constant))


def _about_kinds(node: ast.AST) -> bool:
    """Return whether a kind or its table is compared: the words of kinds are names of programs too."""
    if isinstance(node, ast.MatchValue):
        return True
    names = {inner.attr if isinstance(inner, ast.Attribute) else inner.id
             for inner in ast.walk(node) if isinstance(inner, ast.Attribute | ast.Name)}  # fmt: skip
    return not names.isdisjoint({"kind", "way", "what", "code"})


def test_that_no_file_but_the_tables_decides_by_the_kind_of_a_server() -> None:
    words = ("inventory.kinds", "MongoAccess", "MongoLink", *(f'"{code}"' for code in KINDS))
    places = {path: found for path, tree in _sources(*words) if not path.startswith(OWN) and (found := asked(tree))}
    assert set(places) == {*TABLES, *ASK_FOR_THE_DEFAULT}
    for path in ASK_FOR_THE_DEFAULT:
        assert places[path] == {"mysql"}, path


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("from services.inventory.kinds import MONGODB\nif entry.kind == MONGODB.code: pass", "mongodb"),
        ("from services.inventory.kinds import MONGODB as M\nway = 1 if self.what is M else 2", "mongodb"),
        ("from services.inventory.kinds import PROXYSQL\nfound = kind in {PROXYSQL.code, 'x'}", "proxysql"),
        ("from services.inventory.kinds import MYSQL\nASK = {MYSQL.code: ask}", "mysql"),
        ("if session.kind == 'mongodb': pass", "mongodb"),
        ("if entry.what.way != 'mongodb': pass", "mongodb"),
        ("match entry.kind:\n    case 'proxysql':\n        pass", "proxysql"),
        ("isinstance(entry.sql, MongoAccess)", "mongodb"),
        ("isinstance(link, SqlLink | MongoLink)", "mongodb"),
        ("program == 'mysql'", ""),
        ("NAMES = {'proxysql': 'ProxySQL'}", ""),
        ("from services.inventory.kinds import MYSQL\nkind: str = MYSQL.code", ""),
        ("from services.inventory.kinds import KINDS\nKINDS[entry.kind].port == 1", ""),
    ],
)
def test_that_a_branch_by_kind_is_found_however_it_is_written(text: str, kind: str) -> None:
    assert asked(ast.parse(text)) == ({kind} if kind else set())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("from services.inventory.kinds import KINDS, MONGODB", "mongodb"),
        ("from services.inventory.kinds import PROXYSQL as NAMED", "proxysql"),
        ("from services.inventory import kinds\nkinds.MONGODB.port", "mongodb"),
        ("from services.discovery.families.mongodb.kind import MONGODB", ""),
        ("flavour = Flavour.MONGODB", ""),
    ],
)
def test_that_a_kind_is_found_by_whatever_name_it_is_imported(text: str, kind: str) -> None:
    assert named(ast.parse(text)) == ({kind} if kind else set())


def reads_its_facts(tree: ast.Module) -> bool:
    """Return whether a file reads the part of a node's facts that MongoDB alone has."""
    read = (node.value for node in walked(tree) if isinstance(node, ast.Attribute) and node.attr == "mongo")
    return any(ast.unparse(value).rpartition(".")[2] in {"facts", "self", "node"} for value in read)


def test_that_the_part_of_one_kind_is_read_in_its_folders_and_where_facts_are_put_together() -> None:
    found = {path for path, tree in _sources(".mongo") if not path.startswith(OWN) and reads_its_facts(tree)}
    assert found == KNOW_ITS_FACTS


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("facts.mongo is None", True),
        ("node.facts.mongo.server", True),
        ("self.mongo", True),
        ("host.node.mongo", True),
        ("services.connections.mongo.link", False),
        ("self._links.mongo(limit_s)", False),
    ],
)
def test_that_a_read_of_the_part_is_told_from_other_things_of_that_name(text: str, reads: bool) -> None:
    assert reads_its_facts(ast.parse(text)) is reads
