"""Two saved runs against each other."""
