"""Benchmarks of gilscope's method, with alternating runs and ratios of medians."""
