"""Real MySQL: a group of three, and a source with a semi-synchronous and a plain replica."""
