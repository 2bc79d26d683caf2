"""A user's own service: started, watched and ended."""
