"""Load generators against one HTTP server."""
