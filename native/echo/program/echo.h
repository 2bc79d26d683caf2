/* An echo server except for its network library: flags, listening socket, threads, and how it ends.

   Whatever arrives is sent back. A library supplies two functions; everything else is the same for all of them. */
#pragma once

#include "compiler.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The largest read, the same in all echo servers: docs/experiments.md. */
enum { ECHO_READ_BYTES = 262144 };

struct echo_settings {
  const char *host;   /* --host */
  int port;           /* --port; 0 for any free port */
  const char *path;   /* --socket: a Unix socket; NULL for TCP */
  int threads;        /* --threads */
  bool nodelay;       /* --nodelay: TCP_NODELAY of each connection */
  int buffer_bytes;   /* --buffer-bytes: SO_SNDBUF and SO_RCVBUF of each connection; 0 leaves them to the kernel */
  bool is_controlled; /* --control: answer each line on stdin with the bytes echoed so far; stop at end of file */
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

/* The whole program. Returns its exit status: 0 stopped as asked, 1 cannot serve, 2 bad flag. */
int echo_main(int argc, char **argv, const struct echo_library *library);

/* Count bytes that are about to be sent back: before they are sent, so that a client that has its echo is counted. */
void echo_count(size_t size_bytes);

#ifdef __cplusplus
}
#endif
