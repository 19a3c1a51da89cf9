"""Discovery, sampling and the drawing of real clusters."""
