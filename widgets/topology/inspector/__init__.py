"""The inspector of a node."""
