"""Build and find gilscope's native programs and extension modules."""
