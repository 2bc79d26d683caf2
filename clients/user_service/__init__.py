"""The client of a user's service: the requests of a plan, in frames or by HTTP/1.1."""
