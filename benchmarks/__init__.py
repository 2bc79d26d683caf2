"""Benchmarks of gilscope's own parts, with alternating runs and ratios of medians."""
