"""Speed of our own parts, in alternating runs; ratios of medians."""
