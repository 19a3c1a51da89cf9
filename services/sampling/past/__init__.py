"""What is known of the time before this run of the console."""
