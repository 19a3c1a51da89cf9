"""How clusters are drawn, a file a notation: a family of systems says by its traits which one is its own."""
