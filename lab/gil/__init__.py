"""Whether the GIL is on, in any process, and which import switched it on."""
