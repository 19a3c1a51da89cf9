"""The console as tests drive it: a process, a terminal, the window."""
