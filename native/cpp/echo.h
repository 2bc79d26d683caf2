/* An echo service but for its network library: flags, listening socket, threads, child contract.

   Whatever arrives is sent back. A library supplies two functions; everything else is the same for all of them.
   Source of the lines on stdin and stdout: docs/child-contract.md, the lines of a service. */
#pragma once

#include "compiler.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One read takes at most so much, as in all echo servers: docs/echo.md. */
enum { ECHO_READ_BYTES = 262144 };

struct echo_settings {
  bool child;             /* --child: everything below is in the cell on stdin */
  const char *host;       /* --host */
  int port;               /* --port; 0 for any */
  const char *path;       /* --socket: a Unix socket; NULL for TCP */
  int threads;            /* --threads, NUM_SERVER_THREADS */
  bool nodelay;           /* --nodelay, NODELAY: TCP_NODELAY of each connection */
  int buffer_bytes;       /* --buffer-bytes, BUFFER_BYTES: SO_SNDBUF and SO_RCVBUF of each connection; 0: kernel's */
  long message_bytes;     /* MESSAGE_BYTES: what counts as one request */
};

struct echo_package {
  const char *name;
  const char *version;
};

struct echo_library {
  const char *name;
  const char *compiler; /* GILSCOPE_COMPILER */
  struct echo_package package;
  /* Called once. listener: a listening socket, TCP or Unix. What it returns is given to serve. */
  void *(*open)(const struct echo_settings *settings, int listener);
  /* Called in each of settings->threads threads; serves until the process ends. */
  void (*serve)(void *server);
};

/* The whole program: its exit status, 0 done, 1 cannot serve, 2 bad input. */
int echo_main(int argc, char **argv, const struct echo_library *library);

/* Count bytes that are about to be sent back. Before they are sent: a client that has its answer finds it counted. */
void echo_count(size_t size_bytes);

#ifdef __cplusplus
}
#endif
