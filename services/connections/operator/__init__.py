"""The road that changes something (law 2): sessions and files of the Operator."""
