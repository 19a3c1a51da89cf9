"""One module a subcommand, each with `run(options) -> exit code`."""
