"""Files that Pilothouse wrote on earlier days, kept as they were: what opens them today has to open them for ever.

A store, a recording or an inventory is never made anew: one of a later day is put beside it. `runs.tsv` says of each
run of each store what was done with it, in which state the program of that day left it, and how many entries it has.

Stores, `store-DAY.sqlite3.xz`: written by the code of the last commit of their day (of 2026-11-21: the last one before
version 3 of the state), by its own engine, journal and store, on its own scripted hosts (`tests/faults/cases.py`).
`python -m tests.unit.old_files.write_store FOLDER` does the same today. Of each procedure that there was:

| course | what was done |
| --- | --- |
| whole | the run, to its end |
| killed | the console killed at the entry that announces an act |
| taken back, undo killed | so killed, then taken back; or killed once more, as the first undo begins |
| unanswered | nobody confirmed what has to be confirmed |
| act refused, undo; server killed, ask | a fault at the third step; the run takes itself back, or asks |
| approved | nothing more |

Besides two consoles (the second was killed), settings, nodes seen, positions, from 2026-11-24 on a marked change.

| day | version | what it is of |
| --- | --- | --- |
| 2026-11-21 | 2 | one quorum, conditions by their class, nothing sealed, no proof of histories |
| 2026-11-23 | 4 | lines sealed (seals of version 1); the last day before conditions had families |
| 2026-11-24 | 5 | families, instances, several quorums |
| 2026-11-26 | 5 | three ways back without an SST, the first procedure for MongoDB |
| 2026-11-28 | 5 | the conversion, points of no return, seals of version 2 |
| 2026-11-30 | 5 | after the rooms |

Recordings, `NAME-DAY.pilothouse.xz`: the first one of each demo, as it was committed. Inventories,
`inventory-DAY.toml`: the examples of resources/docs/inventory.md of that day, put together as the page says.
"""
