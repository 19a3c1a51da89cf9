"""The wizard of one run, from its questions to its report."""
