"""A run: children that speak the contract, cells, blocks, and what is saved."""
