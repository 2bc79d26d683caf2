#include "flags.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PORT = 65535, MAX_THREADS = 1000 };

static const char USAGE[] =
    "usage: [--host 127.0.0.1] [--port 25000] [--socket PATH] [--threads 1] [--nodelay true|false]"
    " [--buffer-bytes 0] [--control]\n";

static int reject(const char *flag, const char *value, const char *accepted) {
  fprintf(stderr, "%s is %s; it must be %s.\n", flag, value, accepted);
  return -1;
}

static int read_integer(const char *flag, long low, long high, int *number) {
  char accepted[64], *end;
  errno = 0;
  long value = strtol(optarg, &end, 10);
  *number = (int)value;
  if (*optarg != '\0' && *end == '\0' && errno == 0 && value >= low && value <= high) return 0;
  snprintf(accepted, sizeof accepted, "a whole number from %ld to %ld", low, high);
  return reject(flag, optarg, accepted);
}

static int read_boolean(const char *flag, bool *value) {
  *value = strcmp(optarg, "true") == 0;
  return *value || strcmp(optarg, "false") == 0 ? 0 : reject(flag, optarg, "true or false");
}

static int read_flag(int flag, struct echo_settings *settings) {
  switch (flag) {
    case 'c': settings->is_controlled = true; return 0;
    case 'h': settings->host = optarg; return 0;
    case 's': settings->path = optarg; return 0;
    case 'p': return read_integer("--port", 0, MAX_PORT, &settings->port);
    case 't': return read_integer("--threads", 1, MAX_THREADS, &settings->threads);
    case 'b': return read_integer("--buffer-bytes", 0, INT_MAX, &settings->buffer_bytes);
    case 'n': return read_boolean("--nodelay", &settings->nodelay);
    default: fputs(USAGE, stderr); return -1;
  }
}

int echo_read_flags(int argc, char **argv, struct echo_settings *settings) {
  static const struct option flags[] = {
      {"host", required_argument, NULL, 'h'},    {"port", required_argument, NULL, 'p'},
      {"socket", required_argument, NULL, 's'},  {"threads", required_argument, NULL, 't'},
      {"nodelay", required_argument, NULL, 'n'}, {"buffer-bytes", required_argument, NULL, 'b'},
      {"control", no_argument, NULL, 'c'},       {NULL, 0, NULL, 0}};
  *settings = (struct echo_settings){.host = "127.0.0.1", .port = 25000, .threads = 1, .nodelay = true};
  for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
    if (read_flag(flag, settings) != 0) return -1;
  }
  return 0;
}
