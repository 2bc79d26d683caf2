#!/bin/sh
# The browser of tests/browser, from Debian's packages; the names that tests look for are in finding.py.
set -eu
say() { echo "browser: $*"; }
for name in chromium chromium-browser google-chrome; do
	command -v "$name" >/dev/null && { say "$name is here"; exit 0; }
done
command -v apt-get >/dev/null || { say 'no apt-get here; install Chromium so that chromium is on PATH' >&2; exit 1; }
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
[ -z "$as_root" ] || command -v sudo >/dev/null || { say 'as root: apt-get install chromium chromium-driver' >&2; exit 1; }
{ $as_root apt-get -qq update && $as_root apt-get -qq install -y chromium chromium-driver; } >/dev/null ||
	{ say 'chromium could not be installed; its tests will be skipped' >&2; exit 1; }
say 'chromium installed'
