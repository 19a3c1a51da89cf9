"""Live and historical plots on one linked time axis."""
