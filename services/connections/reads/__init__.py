"""The registry of named reads: every text that the Observer road may send, and the kinds of what varies in them."""
