#!/bin/sh
# Install the browser for tests/browser from Debian's packages. conftest.py has the names that tests look for.
set -eu
say() { echo "browser: $*"; }
for name in chromium chromium-browser google-chrome; do
	command -v "$name" >/dev/null && { say "$name is already installed"; exit 0; }
done
command -v apt-get >/dev/null || { say 'apt-get was not found; install Chromium and put chromium on PATH' >&2; exit 1; }
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
[ -z "$as_root" ] || command -v sudo >/dev/null || { say 'sudo was not found; run as root: apt-get install chromium chromium-driver' >&2; exit 1; }
{ $as_root apt-get -qq update && $as_root apt-get -qq install -y chromium chromium-driver; } >/dev/null ||
	{ say 'chromium could not be installed; the tests of the page will be skipped' >&2; exit 1; }
say 'chromium installed'
