"""Find the Python interpreters on this machine, and use uv to install interpreters and packages."""
