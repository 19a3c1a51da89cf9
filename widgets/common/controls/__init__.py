"""Small controls that every page is built of."""
