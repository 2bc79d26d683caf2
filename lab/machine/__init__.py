"""What the machine is, what disturbs it, and what would make it quieter."""
