"""Read plans from YAML files and flags, and check the plans before anything starts."""
