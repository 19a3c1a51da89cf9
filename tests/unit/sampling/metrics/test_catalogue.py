"""The catalogue that comes with the program: complete, checked, and true on the stream of a real server."""

from __future__ import annotations

import numpy as np
import pytest

from services.errors import BadInput
from services.facts.numeric import numeric_status
from services.history.columns.values import Columns
from services.sampling.metrics.catalogue import load_catalogue, parse_catalogue
from services.sampling.metrics.catalogue_page import catalogue_page
from services.sampling.metrics.charts import load_charts, parse_charts, read_charts
from services.sampling.metrics.formula import Frame
from tests.bench.support.stream import read_stream

UNITS = {"%", "B", "B/s", "1/s", "s", "ms", "h", ""}
OF_CPU = ("cpu.user", "cpu.system", "cpu.iowait", "cpu.idle", "cpu.steal")
NOT_IN_STREAM = {
    "cpu.running", "cpu.blocked", "psi.cpu", "psi.io", "psi.memory", "disk.data_free", "memory.swapping",
    "disk.gcache_free", "disk.gcache_pages",
    "commit.redo_fsync", "commit.share",
    "repl.lag", "repl.seconds_behind", "repl.heartbeat", "repl.gtid_gap", "repl.threads",
    "group.applier_queue", "group.certify_queue", "group.conflicts",
    "repl.relay_space", "galera.recv_queue_limit", "ist.kept", "ist.reach",
    *(metric.key for metric in load_catalogue() if metric.key.startswith("mongo.")),
}  # fmt: skip
"""What the recorded server does not give (no replica, no pressure files, no group, no MongoDB); each has a test."""


@pytest.fixture(scope="module")
def frame() -> Frame:
    stream = read_stream("galera_node")
    values = {key: stream.values[:, i] for i, key in enumerate(stream.keys)}
    return Frame(stream.at, stream.mono, np.zeros(len(stream.at)), values)


def test_that_every_metric_says_its_unit_its_source_and_has_a_known_kind() -> None:
    for metric in load_catalogue():
        assert metric.unit in UNITS, metric.key
        assert len(metric.source) > 10, metric.key
        assert metric.title, metric.key
        if metric.warn is not None and metric.bad is not None:
            assert (metric.warn < metric.bad) == metric.higher_is_worse, metric.key


def test_that_every_metric_a_galera_node_can_have_has_values_on_a_real_stream(frame: Frame) -> None:
    catalogue = load_catalogue()
    missing = {m.key for m in catalogue if np.isnan(catalogue.formula(m.key).evaluate(frame)).all()}
    assert missing == NOT_IN_STREAM


def test_that_the_shares_of_the_cpu_add_up_to_the_whole(frame: Frame) -> None:
    catalogue = load_catalogue()
    total = sum(catalogue.formula(key).evaluate(frame) for key in OF_CPU)
    assert np.allclose(total[1:], 100.0)
    available = catalogue.formula("cpu.available").evaluate(frame)
    parts = catalogue.formula("cpu.idle").evaluate(frame) + catalogue.formula("cpu.iowait").evaluate(frame)
    assert np.allclose(available[1:], parts[1:])


def test_that_no_rate_on_a_real_stream_is_negative(frame: Frame) -> None:
    catalogue = load_catalogue()
    for metric in catalogue:
        assert not (catalogue.formula(metric.key).evaluate(frame) < 0).any(), metric.key


def test_that_checkpoint_age_is_a_share_of_the_capacity(frame: Frame) -> None:
    catalogue = load_catalogue()
    share = catalogue.formula("innodb.checkpoint_age_share").evaluate(frame)
    assert share[-1] == pytest.approx(
        100 * frame.column("innodb_checkpoint_age")[-1] / frame.column("innodb_checkpoint_max_age")[-1]
    )


STOOD_STILL = {"innodb_checkpoint_age": 0.0, "innodb_checkpoint_max_age": 0.0}
"""Percona Server 8.0.30 to PS-8503: both are offered and nothing moves them."""


@pytest.mark.parametrize(
    ("status", "age", "capacity"),
    [
        (
            {**STOOD_STILL, "innodb_redo_log_current_lsn": 9.2e11, "innodb_redo_log_checkpoint_lsn": 9.18e11,
             "innodb_redo_log_capacity_resized": 4e9}, 2e9, 4e9,
        ),
        (  # stood still at what it was when the server began
            {"innodb_checkpoint_age": 512.0, "innodb_checkpoint_max_age": 7.8e7, "innodb_redo_log_current_lsn": 5e10,
             "innodb_redo_log_checkpoint_lsn": 4.9e10, "innodb_redo_log_capacity_resized": 2e9}, 1e9, 2e9,
        ),
        (  # Percona Server 8.0.29 and 5.7, MariaDB 10.5 and newer
            {"innodb_checkpoint_age": 3e7, "innodb_checkpoint_max_age": 8e7, "innodb_lsn_current": 6.03e9,
             "innodb_lsn_last_checkpoint": 6e9, "var.innodb_log_file_size": 5e7, "var.innodb_log_files_in_group": 2.0},
            3e7, 8e7,
        ),
        ({**STOOD_STILL, "var.innodb_log_file_size": 5e7, "var.innodb_log_files_in_group": 2.0}, 0.0, 1e8),
        ({**STOOD_STILL, "innodb_redo_log_capacity_resized": 0.0}, 0.0, None),  # a capacity of 0 is none
        ({"innodb_checkpoint_age": 3e7, "innodb_lsn_current": 0.0, "innodb_lsn_last_checkpoint": 0.0}, 3e7, None),
        ({"innodb_lsn_current": 7e9}, None, None),
    ],
)  # fmt: skip
def test_that_a_variable_that_stands_still_is_not_believed_against_lsns_that_move(
    status: dict[str, float], age: float | None, capacity: float | None
) -> None:
    frame = Frame(np.zeros(1), np.zeros(1), np.zeros(1), {key: np.array([value]) for key, value in status.items()})
    catalogue = load_catalogue()
    for key, right in (("innodb.checkpoint_age", age), ("innodb.redo_capacity", capacity)):
        found = float(catalogue.formula(key).evaluate(frame)[0])
        assert found == right or (right is None and np.isnan(found)), key
    share = catalogue.formula("innodb.checkpoint_age_share").evaluate(frame)[0]
    assert np.isnan(share) == (age is None or capacity is None)


def test_that_mysql_8_names_give_the_same_metrics() -> None:
    t = np.arange(5.0)
    grow = 8704 + t * 1000.0
    status = {
        "innodb_redo_log_current_lsn": grow + 5e6, "innodb_redo_log_checkpoint_lsn": grow, "uptime": t,
        "innodb_redo_log_capacity_resized": np.full(5, 1e8), "innodb_os_log_fsyncs": t * 3, "innodb_rows_read": t * 7,
        "innodb_buffer_pool_pages_dirty": t, "innodb_page_size": np.full(5, 16384.0),
    }  # fmt: skip
    frame = Frame(t, t, np.zeros(5), status)
    catalogue = load_catalogue()
    assert catalogue.formula("innodb.checkpoint_age").evaluate(frame).tolist() == [5e6] * 5
    assert catalogue.formula("innodb.checkpoint_age_share").evaluate(frame).tolist() == [5.0] * 5
    assert catalogue.formula("innodb.log_fsyncs").evaluate(frame)[1:].tolist() == [3.0] * 4
    assert catalogue.formula("load.rows_read").evaluate(frame)[1:].tolist() == [7.0] * 4
    assert catalogue.formula("innodb.dirty_bytes").evaluate(frame)[2] == 2 * 16384.0


def test_that_flow_control_is_the_share_of_each_second_and_survives_the_flush_of_other_counters() -> None:
    t = np.arange(4.0)
    frame = Frame(t, t, np.zeros(4), {
        "wsrep_flow_control_paused_ns": np.array([0.0, 1.2e8, 1.2e8, 2.2e9]),
        "wsrep_flow_control_sent": np.array([7.0, 9.0, 0.0, 1.0]),
    })  # fmt: skip
    catalogue = load_catalogue()
    assert catalogue.formula("galera.paused").evaluate(frame)[1:].tolist() == [12.0, 0.0, 100.0]
    sent = catalogue.formula("galera.fc_sent").evaluate(frame)
    assert sent[1] == 2.0
    assert np.isnan(sent[2])
    assert sent[3] == 1.0


def test_that_replication_metrics_leave_null_out_and_take_the_worst_channel() -> None:
    t = np.arange(3.0)
    nan = np.nan
    frame = Frame(t, t, np.zeros(3), {
        "repl.a.seconds_behind": np.array([1.0, nan, nan]), "repl.b.seconds_behind": np.array([4.0, 5.0, nan]),
        "repl.a.io_running": np.array([1.0, 0.0, 0.0]), "repl.a.sql_running": np.ones(3),
        "repl.b.io_running": np.ones(3), "repl.b.sql_running": np.ones(3),
        "repl.heartbeat_lag": np.array([0.4, nan, nan]),
    })  # fmt: skip
    catalogue = load_catalogue()
    lag = catalogue.formula("repl.lag").evaluate(frame)
    assert lag[:2].tolist() == [0.4, 5.0]
    assert np.isnan(lag[2])
    assert catalogue.formula("repl.threads").evaluate(frame).tolist() == [1.0, 0.0, 0.0]


def test_that_the_derived_columns_of_an_hour_are_the_catalogue(frame: Frame) -> None:
    catalogue = load_catalogue()
    derived = catalogue.derive(Columns(frame.t, frame.mono, frame.values, frame.epochs))
    assert set(derived) == {m.key for m in catalogue} - NOT_IN_STREAM


def test_that_a_raw_key_or_a_typed_formula_can_be_charted_and_nonsense_is_named() -> None:
    catalogue = load_catalogue()
    assert catalogue.formula("com_select").keys == ("com_select",)
    assert catalogue.formula("os.net.br-lan.rx_bytes").keys == ("os.net.br-lan.rx_bytes",)
    assert catalogue.formula("rate(com_select) * 2").keys == ("com_select",)
    with pytest.raises(BadInput, match="neither a metric nor a formula"):
        catalogue.formula("rate(com_select")


def test_that_a_broken_catalogue_is_refused_with_the_metric_named() -> None:
    entry = '[[metric]]\nkey="x"\ntitle="x"\nunit=""\nkind="gauge"\nformula="{}"\nsource="s"\n'
    with pytest.raises(BadInput, match="'x' has a formula"):
        parse_catalogue(entry.format("open(1)"))
    with pytest.raises(BadInput, match="appears twice"):
        parse_catalogue(entry.format("a") * 2)
    with pytest.raises(BadInput, match="cannot be read"):
        parse_catalogue(entry.format("a").replace("gauge", "gadget"))


def test_that_the_charts_name_metrics_of_the_catalogue_and_have_a_place_each() -> None:
    charts = load_charts()
    assert [c.key for c in charts][:4] == ["cpu", "commit", "flushing", "flow"]
    assert len({c.key for c in charts}) == len(charts)
    for chart in charts:
        assert chart.scope == "node" or all("{node}" in c.label for c in chart.curve)
        assert chart.needs == "" or chart.empty
    broken = '[[chart]]\nkey="a"\ntitle="a"\n[[chart.curve]]\nmetric="no.such"\nlabel="x"\n'
    assert "'no.such'" in parse_charts(broken, load_catalogue(), "charts.toml").faults[0]


GOOD_CHART = '[[chart]]\nkey="good"\ntitle="Good"\n[[chart.curve]]\nmetric="cpu.user"\nlabel="user"\n'


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ('[[chart]]\nkey="mine"\ntitle="a"\n[[chart.curve]]\nmetric="cpu.user"\n',
         'charts.toml: the chart "mine" is left out: its curve 1 has no `label`.'),
        ('[[chart]]\nkey="mine"\n[[chart.curve]]\nmetric="cpu.user"\nlabel="x"\n',
         'charts.toml: the chart "mine" is left out: it has no `title`.'),
        ('[[chart]]\ntitle="a"\ncurve=[]\n', 'charts.toml: the chart "1" is left out: it has no `key`.'),
        ('[[chart]]\nkey="mine"\ntitle="a"\ncurve=[]\n',
         'charts.toml: the chart "mine" is left out: it has no curve.'),
        ('[[chart]]\nkey="mine"\ntitle="a"\n[[chart.curve]]\nmetric="no.such"\nlabel="x"\n',
         "charts.toml: the chart \"mine\" is left out: it names 'no.such', which is not in the catalogue."),
    ],
)  # fmt: skip
def test_that_a_chart_that_cannot_be_used_is_named_and_costs_nobody_the_others(broken: str, told: str) -> None:
    read = parse_charts(broken + GOOD_CHART, load_catalogue(), "charts.toml")
    assert ([chart.key for chart in read.charts], read.faults) == (["good"], (told,))


def test_that_a_file_of_charts_that_is_no_toml_says_which_file_and_where() -> None:
    read = parse_charts("[[chart]\n", load_catalogue(), "charts.toml")
    assert read.charts == ()
    assert read.faults[0].startswith("charts.toml cannot be read: ")
    assert "line 1" in read.faults[0]


def test_that_nothing_is_wrong_with_the_charts_of_the_program() -> None:
    assert read_charts().faults == ()


def test_that_the_metrics_page_of_the_docs_is_the_catalogue_as_it_is() -> None:
    from importlib.resources import files

    assert files("resources").joinpath("docs/metrics.md").read_text(encoding="utf-8") == catalogue_page()


def test_that_numeric_status_is_decided_by_the_text_alone() -> None:
    status = {
        "Questions": "12", "Slow": "0.5", "Neg": "-3", "Exp": "1e3", "wsrep_ready": "ON", "Empty": "", "Name": "abc",
        "Nan": "nan", "Inf": "inf", "List": "1,2", "Uuid": "1e2f-00", "Big": "4611686018427387904",
        "wsrep_evs_repl_latency": "0.1/0.2/0.4/0.05/7", "wsrep_flow_control_interval": "[ 12, 16 ]",
        "Dash": "-", "Huge": "1e999", "Below0": "18446744073709551615",
    }  # fmt: skip
    assert numeric_status(status) == {
        "questions": 12.0, "slow": 0.5, "neg": -3.0, "exp": 1000.0, "big": 4611686018427387904.0,
        "wsrep_evs_repl_latency.min": 0.1, "wsrep_evs_repl_latency.avg": 0.2, "wsrep_evs_repl_latency.max": 0.4,
        "wsrep_evs_repl_latency.deviation": 0.05, "wsrep_evs_repl_latency.count": 7.0,
        "wsrep_flow_control_interval.low": 12.0, "wsrep_flow_control_interval.high": 16.0,
    }  # fmt: skip


def test_that_the_share_in_commit_is_of_clients_alone_and_not_known_where_only_all_threads_were_counted() -> None:
    def share(**columns: float) -> list[float]:
        values = {f"console.{name}": np.array([value]) for name, value in columns.items()}
        frame = Frame(np.zeros(1), np.zeros(1), np.zeros(1), {**values, "threads_running": np.array([2.0])})
        return [float(one) for one in load_catalogue().formula("commit.share").evaluate(frame)]

    assert share(threads_in_commit=4.0, clients_in_commit=0.0, clients_running=1.0) == [0.0]
    assert share(threads_in_commit=5.0, clients_in_commit=1.0, clients_running=4.0) == [25.0]
    assert share(threads_in_commit=0.0, clients_in_commit=0.0, clients_running=0.0) == [0.0]
    assert np.isnan(share(threads_in_commit=4.0)).all()  # a recording of before
