"""HTTP clients against one fast server."""
