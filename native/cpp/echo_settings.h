/* What an echo server is told, by flags or by a cell, and the listening socket that this makes. */
#pragma once

#include "echo.h"

enum { ECHO_ADDRESS_BYTES = 256 };

/* Fill *settings* from the command line, and with --child from the cell on stdin.
   0, or -1 when something is wrong, which stderr then says. Strings live as long as the process. */
int echo_settings_read(int argc, char **argv, struct echo_settings *settings);

/* A listening socket, and its address in words: a path or host:port. -1 when it cannot be had: stderr says why. */
int echo_listen(const struct echo_settings *settings, char address[ECHO_ADDRESS_BYTES]);
