"""A user's project, found in its folder: what it needs, and what its application is."""
