"""The parts of a host's facts, a file each with its reading: a card names those that its procedure needs."""
