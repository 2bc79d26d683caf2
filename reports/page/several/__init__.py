"""side-by-side.html: several runs in one page."""
