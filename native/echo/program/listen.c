#define _GNU_SOURCE
#include "flags.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int fail(int listener, const char *address) {
  fprintf(stderr, "Cannot listen on %s: %s.\n", address, strerror(errno));
  if (listener >= 0) close(listener);
  return -1;
}

static int listen_unix(const char *path, char *address) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof name.sun_path) {
    errno = ENAMETOOLONG;
    return fail(-1, path);
  }
  strcpy(name.sun_path, path);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&name, sizeof name) != 0 || listen(listener, SOMAXCONN) != 0)
    return fail(listener, path);
  snprintf(address, ECHO_ADDRESS_BYTES, "%s", path);
  return listener;
}

static int listen_tcp(const struct echo_settings *settings, char *address) {
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)settings->port)};
  socklen_t size_bytes = sizeof name;
  const int on = 1;
  snprintf(address, ECHO_ADDRESS_BYTES, "%s:%d", settings->host, settings->port);
  errno = EINVAL; /* inet_pton sets none */
  if (inet_pton(AF_INET, settings->host, &name.sin_addr) != 1) return fail(-1, address);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(listener, (struct sockaddr *)&name, sizeof name) != 0 || listen(listener, SOMAXCONN) != 0 ||
      getsockname(listener, (struct sockaddr *)&name, &size_bytes) != 0)
    return fail(listener, address);
  snprintf(address, ECHO_ADDRESS_BYTES, "%s:%d", settings->host, ntohs(name.sin_port));
  return listener;
}

int echo_listen(const struct echo_settings *settings, char address[ECHO_ADDRESS_BYTES]) {
  return settings->path != NULL ? listen_unix(settings->path, address) : listen_tcp(settings, address);
}
