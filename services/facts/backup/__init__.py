"""Backups of mariadb-backup and xtrabackup, and whether data are whole."""
