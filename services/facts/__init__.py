"""A read command and a pure parser each; never a change."""
