"""Virtual environments with the packages that systems need, one for each runtime."""
