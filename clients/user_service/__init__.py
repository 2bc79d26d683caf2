"""The client of a user's service. It sends the requests of a plan in frames or with HTTP/1.1."""
