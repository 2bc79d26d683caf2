"""Echo servers of network libraries."""
