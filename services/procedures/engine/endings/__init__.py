"""The ways out of a run: undo, release, settle."""
