"""Clusters, hosts, endpoints and credential references; imports from other tools."""
