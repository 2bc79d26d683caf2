"""The seed's record, and this run's beside it."""
