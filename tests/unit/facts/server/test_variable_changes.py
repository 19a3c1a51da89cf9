"""What changed among the settings of a server between two readings."""

from __future__ import annotations

from services.facts.server.variable_changes import changed_variables


def test_that_a_changed_setting_is_named_with_both_values() -> None:
    assert changed_variables({"sync_binlog": "0", "x": "1"}, {"sync_binlog": "1", "x": "1"}) == ("sync_binlog: 0 -> 1",)


def test_that_a_first_reading_is_no_change() -> None:
    assert changed_variables({}, {"sync_binlog": "1"}) == ()


def test_that_what_a_server_moves_by_itself_is_left_out() -> None:
    old = {"gtid_binlog_pos": "0-1-1", "timestamp": "1"}
    assert changed_variables(old, {"gtid_binlog_pos": "0-1-2", "timestamp": "2"}) == ()


def test_that_a_secret_is_never_quoted() -> None:
    told = changed_variables({"wsrep_sst_auth": "u:hunter2"}, {"wsrep_sst_auth": "u:hunter3"})
    assert told == ("wsrep_sst_auth changed (its value is not shown)",)


def test_that_of_provider_options_only_the_changed_ones_are_told() -> None:
    old = {"wsrep_provider_options": "gcache.size = 128M; gcs.fc_limit = 16; socket.ssl_password_file = a"}
    new = {"wsrep_provider_options": "gcache.size = 128M; gcs.fc_limit = 160; socket.ssl_password_file = b"}
    assert changed_variables(old, new) == ("gcs.fc_limit: 16 -> 160",)


def test_that_a_whole_new_configuration_is_told_as_a_number() -> None:
    old = {f"v{i}": "0" for i in range(40)}
    assert changed_variables(old, dict.fromkeys(old, "1")) == ("40 settings changed at once",)


def test_that_the_increments_galera_sets_at_each_view_are_left_out_only_while_it_does() -> None:
    old = {"auto_increment_increment": "3", "wsrep_auto_increment_control": "ON"}
    assert changed_variables(old, {**old, "auto_increment_increment": "2"}) == ()
    own = {"auto_increment_increment": "3", "wsrep_auto_increment_control": "OFF"}
    assert changed_variables(own, {**own, "auto_increment_increment": "2"}) == ("auto_increment_increment: 3 -> 2",)
