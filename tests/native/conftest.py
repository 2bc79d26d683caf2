"""Tests that measure time run alone, and those of this folder not beside them."""
