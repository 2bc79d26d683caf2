"""Build and find our native programs and extensions."""
