"""Version 1: journal rows per second, blocks per chunk, rollups per metric and day, snapshots and events. Frozen."""

STATEMENTS = (
    "CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE server (id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL)",
    "CREATE UNIQUE INDEX server_name ON server (name)",
    "CREATE TABLE metric (id INTEGER NOT NULL PRIMARY KEY, key TEXT NOT NULL)",
    "CREATE UNIQUE INDEX metric_key ON metric (key)",
    "CREATE TABLE epoch (id INTEGER NOT NULL PRIMARY KEY, text TEXT NOT NULL)",
    "CREATE UNIQUE INDEX epoch_text ON epoch (text)",
    (
        "CREATE TABLE journal (id INTEGER NOT NULL PRIMARY KEY, server INTEGER NOT NULL, chunk INTEGER NOT NULL, "
        "at FLOAT NOT NULL, shift FLOAT NOT NULL, epoch INTEGER NOT NULL, whole INTEGER NOT NULL, data BLOB NOT NULL)"
    ),
    (
        "CREATE TABLE block (id INTEGER NOT NULL PRIMARY KEY, server INTEGER NOT NULL, start FLOAT NOT NULL, "
        "stop FLOAT NOT NULL, rows INTEGER NOT NULL, minutes INTEGER NOT NULL, data BLOB NOT NULL)"
    ),
    "CREATE INDEX block_place ON block (server, start)",
    (
        "CREATE TABLE rollup (id INTEGER NOT NULL PRIMARY KEY, server INTEGER NOT NULL, metric INTEGER NOT NULL, "
        "day INTEGER NOT NULL, data BLOB NOT NULL)"
    ),
    "CREATE UNIQUE INDEX rollup_place ON rollup (server, metric, day)",
    (
        "CREATE TABLE still (id INTEGER NOT NULL PRIMARY KEY, server INTEGER NOT NULL, hour INTEGER NOT NULL, "
        "data BLOB NOT NULL)"
    ),
    "CREATE UNIQUE INDEX still_place ON still (server, hour)",
    "CREATE TABLE snapshot (id INTEGER NOT NULL PRIMARY KEY, at FLOAT NOT NULL, base INTEGER, data BLOB NOT NULL)",
    "CREATE INDEX snapshot_place ON snapshot (at)",
    (
        "CREATE TABLE event (id INTEGER NOT NULL PRIMARY KEY, at FLOAT NOT NULL, stop FLOAT, spans INTEGER NOT NULL, "
        "key TEXT NOT NULL, data TEXT NOT NULL)"
    ),
    "CREATE INDEX event_place ON event (at)",
    "CREATE INDEX event_key ON event (key) WHERE key != ''",
)
