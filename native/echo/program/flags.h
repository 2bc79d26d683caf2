/* The command line of an echo server, and the listening socket that it asks for. */
#pragma once

#include "echo.h"

enum { ECHO_ADDRESS_BYTES = 256 };

/* Fill *settings* from the command line. 0, or -1 for a bad flag, which is explained on stderr.
   Strings live as long as the process. */
int echo_read_flags(int argc, char **argv, struct echo_settings *settings);

/* A listening socket, and its address as text: a path or host:port. -1 if it cannot be opened; the reason is on stderr. */
int echo_listen(const struct echo_settings *settings, char address[ECHO_ADDRESS_BYTES]);
