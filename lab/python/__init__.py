"""Find the Python interpreters on this machine, and use uv to install interpreters and packages.

trust.py decides which programs may be executed at all, uv.py runs uv, and interpreters.py finds an
interpreter for each runtime. All of this also runs on other hosts, with the standard library alone.
"""
