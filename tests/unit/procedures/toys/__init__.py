"""Toys: a fact, a condition and a procedure that production never heard of. Found by the tests that ask for them."""
