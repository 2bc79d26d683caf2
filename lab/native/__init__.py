"""Our native programs and extensions: built, found, or why not."""
