"""Clients of the alternatives that bring their own protocol."""
