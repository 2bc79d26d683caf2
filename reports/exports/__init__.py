"""Files of a saved run that other tools open: one file here a format; formats.py lists them."""
