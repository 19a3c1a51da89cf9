"""What is kept between starts, and the page where a person sets it."""
