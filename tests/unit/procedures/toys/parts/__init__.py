"""Parts of facts of the tests' own."""
