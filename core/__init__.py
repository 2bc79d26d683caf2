"""What all packages build on: standard library only, 3.11 syntax, runs under every measured runtime."""
