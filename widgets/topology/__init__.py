"""The drawing of a cluster and the inspector of a node."""
