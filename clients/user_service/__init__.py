"""The client of a user's service. It sends the requests of a plan as frames or with HTTP."""
