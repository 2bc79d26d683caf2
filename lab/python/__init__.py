"""The interpreters of this machine, and uv, which installs them."""
