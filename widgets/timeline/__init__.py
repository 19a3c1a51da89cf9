"""The window's one time axis: the event strip with its cursor and live flag, and the controls of a replay."""
