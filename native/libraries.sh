#!/bin/sh
# Install the libraries of the C and C++ programs from Debian's or Ubuntu's packages; see native/CMakeLists.txt.
set -eu
command -v apt-get >/dev/null || { echo 'native-libraries: apt-get was not found. Install the libraries that native/CMakeLists.txt names' >&2; exit 1; }
as_root=; [ "$(id -u)" = 0 ] || as_root=sudo
$as_root apt-get -qq update
$as_root apt-get -qq install -y cmake g++ libuv1-dev nlohmann-json3-dev \
	libboost-dev libboost-context-dev
