"""HTTP clients: a library each, and the threads and tasks that drive them."""
