"""The procedures page and the wizard of a run: frozen values in, signals out."""
