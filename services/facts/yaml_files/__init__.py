"""Configuration files in YAML: read, edited, rewritten."""
