"""Start, watch and end a user's own service."""
