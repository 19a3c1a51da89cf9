"""Icons, theme, metric catalogue, help pages, the demo recording, documentation."""
