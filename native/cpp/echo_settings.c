#define _GNU_SOURCE
#include "echo_settings.h"

#include "usage.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CPUS = 1024, MOST_THREADS = 1000 };

static int complain(const char *name, const char *seen, const char *accepted) {
  fprintf(stderr, "%s is %s; it must be %s.\n", name, seen, accepted);
  return -1;
}

static int read_whole(const char *name, const char *text, long low, long high, int *number) {
  char accepted[64], *end;
  errno = 0;
  long value = strtol(text, &end, 10);
  *number = (int)value;
  if (*text != '\0' && *end == '\0' && errno == 0 && value >= low && value <= high) return 0;
  snprintf(accepted, sizeof accepted, "a whole number from %ld to %ld", low, high);
  return complain(name, text, accepted);
}

static int read_truth(const char *name, const char *text, bool *claim) {
  *claim = strcmp(text, "true") == 0;
  return *claim || strcmp(text, "false") == 0 ? 0 : complain(name, text, "true or false");
}

static int read_flag(int flag, struct echo_settings *settings) {
  switch (flag) {
    case 'c': settings->child = true; return 0;
    case 'h': settings->host = optarg; return 0;
    case 's': settings->path = optarg; return 0;
    case 'p': return read_whole("--port", optarg, 0, 65535, &settings->port);
    case 't': return read_whole("--threads", optarg, 1, MOST_THREADS, &settings->threads);
    case 'b': return read_whole("--buffer-bytes", optarg, 0, INT_MAX, &settings->buffer_bytes);
    case 'n': return read_truth("--nodelay", optarg, &settings->nodelay);
    default: break;
  }
  fputs("usage: [--host 127.0.0.1] [--port 25000] [--socket PATH] [--threads 1] [--nodelay true|false]"
        " [--buffer-bytes 0] [--child]\n", stderr);
  return -1;
}

static int complain_of(const char *name, const cJSON *given, const char *accepted) {
  char seen[64] = "too long to show";
  cJSON_PrintPreallocated((cJSON *)given, seen, sizeof seen, false);
  return complain(name, seen, accepted);
}

/* A whole number of the cell's params; absent or null leaves what is there. */
static int take_whole(const cJSON *params, const char *name, int low, int high, int *number) {
  const cJSON *given = cJSON_GetObjectItemCaseSensitive(params, name);
  if (given == NULL || cJSON_IsNull(given)) return 0;
  if (!cJSON_IsNumber(given) || given->valuedouble != given->valueint || given->valueint < low ||
      given->valueint > high) {
    char accepted[64];
    snprintf(accepted, sizeof accepted, "a whole number from %d to %d", low, high);
    return complain_of(name, given, accepted);
  }
  *number = given->valueint;
  return 0;
}

/* true or false of the cell's params; absent or null leaves what is there. */
static int take_truth(const cJSON *params, const char *name, bool *claim) {
  const cJSON *given = cJSON_GetObjectItemCaseSensitive(params, name);
  if (given == NULL || cJSON_IsNull(given)) return 0;
  if (!cJSON_IsBool(given)) return complain_of(name, given, "true or false");
  *claim = cJSON_IsTrue(given);
  return 0;
}

static int take_params(const cJSON *params, struct echo_settings *settings) {
  int message_bytes = (int)settings->message_bytes;
  if (take_truth(params, "NODELAY", &settings->nodelay) != 0 ||
      take_whole(params, "NUM_SERVER_THREADS", 1, MOST_THREADS, &settings->threads) != 0 ||
      take_whole(params, "BUFFER_BYTES", 0, INT_MAX, &settings->buffer_bytes) != 0 ||
      take_whole(params, "MESSAGE_BYTES", 1, INT_MAX, &message_bytes) != 0) {
    return -1;
  }
  settings->message_bytes = message_bytes;
  return 0;
}

/* TRANSPORT unix (also when it is absent): the socket is folder/service_id.0. */
static int take_address(const cJSON *cell, struct echo_settings *settings) {
  const cJSON *params = cJSON_GetObjectItemCaseSensitive(cell, "params");
  const char *transport = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(params, "TRANSPORT"));
  const char *folder = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(cell, "folder"));
  const cJSON *service_id = cJSON_GetObjectItemCaseSensitive(cell, "service_id");
  settings->port = 0;
  if (transport != NULL && strcmp(transport, "tcp") == 0) return 0;
  if (transport != NULL && strcmp(transport, "unix") != 0) return complain("TRANSPORT", transport, "unix or tcp");
  if (folder == NULL) return complain("folder", "missing", "the folder for Unix sockets");
  char *path = NULL;
  if (asprintf(&path, "%s/%d.0", folder, service_id == NULL ? 0 : service_id->valueint) < 0) return -1;
  settings->path = path;
  return 0;
}

static int stay_on(const cJSON *cpus) {
  int numbers[MOST_CPUS], count = 0;
  const cJSON *cpu;
  cJSON_ArrayForEach(cpu, cpus) {
    if (count < MOST_CPUS) numbers[count++] = cpu->valueint;
  }
  if (usage_stay_on(numbers, count) == 0) return 0;
  return complain("cpus", strerror(errno), "numbers of CPUs that this process may use");
}

static int read_cell(struct echo_settings *settings) {
  char *line = NULL;
  size_t capacity_bytes = 0;
  cJSON *cell = getline(&line, &capacity_bytes, stdin) < 0 ? NULL : cJSON_Parse(line);
  free(line);
  if (!cJSON_IsObject(cell)) {
    cJSON_Delete(cell);
    return complain("The first line of standard input", "something else", "a cell, a JSON object");
  }
  int failed = take_params(cJSON_GetObjectItemCaseSensitive(cell, "params"), settings) ||
               take_address(cell, settings) || stay_on(cJSON_GetObjectItemCaseSensitive(cell, "cpus"));
  cJSON_Delete(cell);
  return failed ? -1 : 0;
}

int echo_settings_read(int argc, char **argv, struct echo_settings *settings) {
  static const struct option flags[] = {
      {"host", required_argument, NULL, 'h'},    {"port", required_argument, NULL, 'p'},
      {"socket", required_argument, NULL, 's'},  {"threads", required_argument, NULL, 't'},
      {"nodelay", required_argument, NULL, 'n'}, {"buffer-bytes", required_argument, NULL, 'b'},
      {"child", no_argument, NULL, 'c'},         {NULL, 0, NULL, 0}};
  *settings = (struct echo_settings){
      .host = "127.0.0.1", .port = 25000, .threads = 1, .nodelay = true, .message_bytes = 1000};
  for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
    if (read_flag(flag, settings) != 0) return -1;
  }
  return settings->child ? read_cell(settings) : 0;
}
