"""What a run is made of: plans from YAML files and flags, checked before anything starts."""
