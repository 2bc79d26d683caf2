"""Find out whether the GIL of a process is on, and which import switched it on."""
