"""SSH, tunnels and SQL sessions: the reading road and the changing one."""
