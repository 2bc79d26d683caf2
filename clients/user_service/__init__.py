"""The client of a service of the user's: requests of a plan, in frames or by HTTP/1.1."""
