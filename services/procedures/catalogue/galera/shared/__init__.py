"""What several procedures of Galera share; no procedure imports another."""
