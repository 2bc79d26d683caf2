"""What else one could have picked: servers of other projects."""
