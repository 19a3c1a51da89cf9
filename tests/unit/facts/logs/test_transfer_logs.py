"""Transfers in logs of other servers than the lab's: how they are counted, and how they end when somebody is gone.

The lines are of public logs: percona/percona-toolkit (tests of pt-galera-log-explainer: PXC 8.0) and codership/galera's
issues.
"""

from __future__ import annotations

import json

import pytest

from services.facts.logs.causes import cause
from services.facts.logs.error_log import parse_transfers, status_progress
from services.facts.model import TransferFacts
from services.facts.transfer.ist_progress import ist_progress
from services.facts.transfer.join_words import DonorFailed, broke_off, donor_failed, fatal_lines

ASKED = (
    "2023-03-12T13:04:25.732124Z 0 [Note] [MY-000000] [Galera] Member 1.0 (node1) requested state transfer from 'node'."
    " Selected 0.0 (node3)(SYNCED) as donor."
)
GALERA_8 = "[MY-000000] [Galera] "
GONE = f"2023-03-12T13:20:25.735888Z 0 [{{}}] {GALERA_8}0.0 (node3): State transfer to -1.-1 (left the group) {{}}"
REFUSED = GONE.replace("0.0", "0.1").format("Warning", "failed: -111 (Connection refused)")
IST_FAILED = (
    "2023-03-18T21:40:38.434082+02:00 2 [ERROR] [MY-000000] [Galera] Receiving IST failed, node restart required: "
    "IST receiver reported failure: 71 (Protocol error)"
)
IST_FAILED_3 = "2015-07-01 09:33:33 27028 [ERROR] WSREP: receiving IST failed, node restart required: Failed to apply 4"
JOIN_FAILED = (
    "2023-03-18T21:40:39.444073+02:00 2 [Warning] [MY-000000] [Galera] Failed to JOIN the cluster after SST "
    "gcs_join(937dcf28-d38e-11ed-82ac-63ef4aef5b2a:22777303) failed: 77 (File descriptor in bad state)"
)
DONOR_GONE = (
    "2016-10-11 13:59:45 909 [Warning] WSREP: Donor 4a54b31f-89c1-11e6-af94-2b7d3c8cd95f is no longer in the group. "
    "State transfer cannot be completed, need to abort. Aborting..."
)
SST = "2023-03-12T19:36:48.567087Z 0 [ERROR] [MY-000000] [WSREP-SST] "
BANNER = f"{SST}******************* FATAL ERROR ********************** "
TIMEOUT = "Possible timeout in receving first data from donor in gtid/keyring stage"
FINISHED = "xtrabackup finished with error: 1.  Check /var/lib/mysql//innobackup.backup.log"
ENDED = (
    "2023-03-12T13:04:39.715275Z 0 [ERROR] [MY-000000] [WSREP] Process completed with error: wsrep_sst_xtrabackup-v2 "
    "--role 'donor' --address '172.17.0.2:4444/xtrabackup_sst//1': 22 (Invalid argument)"
)


@pytest.mark.parametrize(
    ("line", "done", "share"),
    [
        ("Receiving IST...  0.0% (    0/16472 events) complete.", 0.0, 0.0),
        ("Receiving IST... 48.6% ( 8000/16472 events) complete.", 8000.0, 0.486),
        ("Receiving IST...100.0% (16472/16472 events) complete.", 16472.0, 1.0),
    ],
)
def test_that_events_padded_to_the_width_of_all_are_counted(line: str, done: float, share: float) -> None:
    asked = "Member 2.0 (db3) requested state transfer from '*any*'. Selected 0.0 (db1)(SYNCED) as donor."
    before = (
        "2022-11-02  6:00:40 2 [Note] WSREP: Prepared IST receiver for 1001-17472, listening at: tcp://10.0.0.3:4568",
        f"2022-11-02  6:00:40 0 [Note] WSREP: {asked}",
        "2022-11-02  6:00:47 2 [Note] WSREP: Receiving IST: 16472 writesets, seqnos 1001-17472",
    )
    (coming,) = parse_transfers((*before, f"2022-11-02  6:00:48 0 [Note] WSREP: {line}"))
    assert ist_progress({}, coming, "") == (done, 16472.0)
    assert coming.current_seqno == 1000 + done
    assert ist_progress({}, None, line) == (done, 16472.0)
    assert status_progress(line) == ("IST", share)


@pytest.mark.parametrize(
    ("line", "sent"),
    [
        (GONE.format("Note", "complete."), True),
        (GONE.format("Warning", "failed: -22 (Invalid argument)"), False),
        (REFUSED, False),
    ],
)
def test_that_a_transfer_ends_when_its_joiner_left_by_the_name_of_its_donor(line: str, sent: bool) -> None:
    other = ASKED.replace("1.0 (node1)", "3.0 (node4)").replace("0.0 (node3)", "2.0 (node2)")
    ended, going_on = parse_transfers((ASKED, other, line))
    assert (ended.joiner_name, ended.failed, ended.donor_done) == ("node1", True, sent)
    assert ended.ended is not None
    assert (going_on.joiner_name, going_on.failed, going_on.ended) == ("node4", False, None)


def test_that_a_joiner_that_left_ends_no_transfer_of_which_its_donor_had_sent_all() -> None:
    sent = "2023-03-12T13:10:25.7Z 0 [Note] [MY-000000] [Galera] 0.0 (node3): State transfer to 1.0 (node1) complete."
    (one,) = parse_transfers((ASKED, sent, GONE.format("Note", "complete.")))
    assert (one.ended, one.failed, one.donor_done) == (None, False, True)


@pytest.mark.parametrize("line", [IST_FAILED, IST_FAILED_3, JOIN_FAILED, DONOR_GONE])
def test_that_a_joiners_words_for_the_end_of_its_transfer_end_it(line: str) -> None:
    (one,) = parse_transfers((ASKED, line))
    assert one.failed
    assert one.ended is not None
    assert fatal_lines((line,)) == (line,)
    assert broke_off((line,))


def test_that_a_join_that_is_tried_again_is_no_end() -> None:
    """Galera before 26.4 says no more, for want of a Primary Component too, and joins at the next view."""
    line = "2019-07-04  3:45:43 0 [ERROR] WSREP: Failed to JOIN the cluster after SST"
    (one,) = parse_transfers((ASKED, line))
    assert (one.ended, fatal_lines((line,)), broke_off((line,))) == (None, (), False)


def test_that_the_line_inside_a_scripts_frame_is_the_cause() -> None:
    frame = (f"{SST}Line 1304", f"{SST}******************************************************",
             f"{SST}Cleanup after exit with status:32")  # fmt: skip
    assert cause((BANNER, f"{SST}{TIMEOUT}", *frame)) == f"[ERROR] [MY-000000] [WSREP-SST] {TIMEOUT}"
    assert cause((BANNER, *frame)) == BANNER[BANNER.index("[ERROR]") :].strip()


def test_that_a_donors_log_of_pxc_8_says_which_script_failed_and_why() -> None:
    copied = f"{SST}------------ innobackup.backup.log (START) ------------"
    provider = "2023-03-12T13:04:38Z 0 [ERROR] [MY-000000] [Galera] gcs_sst_sent() failed"
    told = donor_failed((provider, BANNER, copied, f"{SST}{FINISHED}", ENDED))
    assert told == DonorFailed("wsrep_sst_xtrabackup-v2", gave_up=f"[ERROR] [MY-000000] [WSREP-SST] {FINISHED}")
    assert donor_failed((BANNER, f"{SST}{FINISHED}")) is None


def _garb(at: str, donor: str, index: int) -> str:
    return (
        f"2023-05-29T{at}Z 0 [Note] [MY-000000] [Galera] Member {index}.0 (garb) requested state transfer from "
        f"'{donor}'. Selected 2.0 ({donor})(SYNCED) as donor."
    )


def test_that_two_backups_at_once_go_by_one_name_and_end_by_their_donors() -> None:
    first, second = _garb("06:18:41.841677", "cluster1-2", 3), _garb("06:21:17.400070", "cluster1-1", 0)
    end = f"2023-05-29T07:16:31.663588Z 0 [Note] {GALERA_8}3.0 (cluster1-2): State transfer to 4.0 (garb) complete."
    synced = f"2023-05-29T07:00:00.663588Z 0 [Note] {GALERA_8}Member 0.0 (garb) synced with group."
    both = parse_transfers((first, second, synced))
    assert [(t.donor_name, t.ended, t.failed) for t in both] == [
        ("cluster1-2", None, False),
        ("cluster1-1", None, False),
    ]
    one, other = parse_transfers((first, second, end))
    assert (one.donor_done, one.failed, one.ended is not None) == (True, False, True)
    assert (other.donor_done, other.failed, other.ended) == (False, False, None)


def test_that_a_node_that_asks_again_has_begun_anew_whoever_gives_and_a_backup_only_by_the_same_donor() -> None:
    again = ASKED.replace("13:04", "13:30").replace("0.0 (node3)", "2.0 (node2)")
    first, second = parse_transfers((ASKED, again))
    assert (first.failed, first.ended) == (True, second.since)
    assert not second.failed
    first, second = parse_transfers((_garb("06:00:00.0", "a", 3), _garb("07:00:00.0", "a", 3)))
    assert (first.failed, first.ended, second.ended) == (True, second.since, None)


def test_that_without_any_time_a_transfer_that_was_asked_for_again_has_failed_all_the_same() -> None:
    bare = ASKED.partition("] [Galera] ")[2]
    first, second = parse_transfers((bare, bare))
    assert first == TransferFacts("node1", "node3", failed=True)
    assert second == TransferFacts("node1", "node3")


AGAIN = (
    ASKED,
    ASKED.replace("13:04:25", "13:09:25"),
    "2023-03-12T13:09:40.735888Z 0 [Note] WSREP: 1.0 (node1): State transfer from 0.0 (node3) complete.",
    "2023-03-12T13:09:41.735888Z 0 [Note] WSREP: Member 1.0 (node1) synced with group.",
)


def test_that_what_ends_a_transfer_ends_no_older_one_of_the_same_joiner() -> None:
    first, second = parse_transfers(AGAIN)
    assert (first.failed, first.ended) == (True, second.since)
    assert not second.failed
    assert second.ended is not None


def test_that_a_transfer_whose_lines_have_no_time_is_not_one_that_runs() -> None:
    bare = tuple(line.split("Z 0 ", 1)[1] for line in (AGAIN[1], *AGAIN[2:]))
    assert parse_transfers(bare[:1])[0].ended is None
    assert parse_transfers(bare) == ()


def test_that_lines_which_a_collector_wrapped_have_their_time() -> None:
    wrapped = tuple(json.dumps({"log": line + "\n", "file": "/var/lib/mysql/mysqld-error.log"}) for line in AGAIN)
    assert parse_transfers(wrapped) == parse_transfers(AGAIN)
