"""Guided procedures: plans as data, one engine that alone executes, a journal that forgets nothing."""
