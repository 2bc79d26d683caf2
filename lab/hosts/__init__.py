"""Children on other hosts, over SSH: an agent there starts them, relays their streams and ends them."""
