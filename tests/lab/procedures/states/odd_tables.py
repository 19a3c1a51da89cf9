"""Tables, routines and names that a comparison of two members must not take for broken or different."""

from __future__ import annotations

from tests.lab.estate.estate import Estate

SCHEMAS = ("odd", "emp ty", "sch#ä")
_MADE = """
CREATE DATABASE odd; CREATE DATABASE `emp ty`; CREATE DATABASE `sch#ä`; USE odd;
CREATE TABLE part (id INT PRIMARY KEY, d INT) PARTITION BY HASH(id) PARTITIONS 3;
INSERT INTO part SELECT seq, seq FROM seq_1_to_100;
CREATE TABLE gen (id INT PRIMARY KEY, a INT, b INT AS (a+1) STORED, c INT AS (a*2) VIRTUAL, KEY(c));
INSERT INTO gen (id, a) SELECT seq, seq FROM seq_1_to_100;
CREATE SEQUENCE sq INCREMENT BY 0;
CREATE TABLE ver (id INT PRIMARY KEY, a INT) WITH SYSTEM VERSIONING;
INSERT INTO ver VALUES (1, 1), (2, 2); UPDATE ver SET a = a + 1;
CREATE TABLE my (id INT PRIMARY KEY) ENGINE=MyISAM; CREATE TABLE ar (id INT PRIMARY KEY) ENGINE=Aria;
CREATE TABLE mem (id INT PRIMARY KEY) ENGINE=MEMORY;
CREATE TABLE `a b#c-é` (id INT PRIMARY KEY, `co l#``` TEXT); INSERT INTO `a b#c-é` VALUES (1, 'x');
CREATE TABLE ft (id INT PRIMARY KEY, t TEXT, FULLTEXT(t)); INSERT INTO ft VALUES (1, 'hello world');
CREATE TABLE comp (id INT PRIMARY KEY, t TEXT) ROW_FORMAT=COMPRESSED;
CREATE TABLE nopk (a INT, b VARBINARY(20), c DOUBLE, d DATETIME(6), e JSON, f BIT(5), g POINT, h DECIMAL(10,3));
INSERT INTO nopk VALUES (1, 0xff00, 1.5, NOW(6), '{}', b'101', POINT(1, 2), 1.234);
CREATE TABLE fk (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES gen(id));
CREATE VIEW v AS SELECT * FROM part; CREATE VIEW vbad AS SELECT * FROM my; CREATE PROCEDURE pr() SELECT 1;
CREATE EVENT ev ON SCHEDULE EVERY 1 DAY DO SELECT 1;
CREATE TRIGGER tr BEFORE INSERT ON ft FOR EACH ROW SET NEW.t = CONCAT(NEW.t, '!');
CREATE TABLE `sch#ä`.`tä#P#x` (id INT PRIMARY KEY);
DROP TABLE odd.my; CREATE TABLE odd.my2 (id INT PRIMARY KEY) ENGINE=MyISAM;
"""


def make(estate: Estate, host: str) -> None:
    """Make them all; a view among them names a table that is not there any more."""
    forget(estate, host)
    estate.sql(host, _MADE)


def forget(estate: Estate, host: str) -> None:
    """Take them away."""
    for name in SCHEMAS:
        estate.sql(host, f"DROP DATABASE IF EXISTS `{name}`")
