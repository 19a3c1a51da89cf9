"""The procedures, one file (or one folder) each; `catalogue.all_procedures()` is the list."""
