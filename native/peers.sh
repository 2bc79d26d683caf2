#!/bin/sh
# Install the load generators of the experiment loadgen: ab and wrk from the system's packages, and oha from crates.io.
# If one cannot be installed, print the reason and install the others.
set -u
failed=
say() { echo "native-peers: $*"; }
package() { # command, Debian package
	command -v "$1" >/dev/null && { say "$1 is already installed"; return; }
	command -v apt-get >/dev/null || { say "$1: apt-get was not found; install the package $2"; failed=1; return; }
	as_root=; [ "$(id -u)" = 0 ] || as_root=sudo
	{ $as_root apt-get -qq update && $as_root apt-get -qq install -y "$2"; } >/dev/null 2>&1 ||
		{ say "$1: the package $2 could not be installed"; failed=1; return; }
	say "$1 installed"
}
build() { # command, tool that installs it, install command
	command -v "$1" >/dev/null && { say "$1 is already installed"; return; }
	command -v "$2" >/dev/null || { say "$1: $2 was not found; install $2"; failed=1; return; }
	shift 2
	"$@" || { say "failed: $*"; failed=1; return; }
}
package ab apache2-utils
package wrk wrk
build oha cargo cargo install --quiet --locked oha@1.16.0
say 'cargo installs into ~/.cargo/bin; add this folder to PATH'
[ -z "$failed" ]
