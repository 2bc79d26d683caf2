"""report.html: a run as one page that needs nothing else. build.page() makes it."""
