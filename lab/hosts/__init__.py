"""Runs children on other hosts over SSH. An agent on each host starts them, relays their streams and ends them."""
