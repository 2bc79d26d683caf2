"""One way of serving each. Standard library only (Tornado in its one file); runs under the measured runtimes."""
