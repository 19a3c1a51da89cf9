"""The only place where services' events become Qt signals."""
