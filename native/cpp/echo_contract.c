#define _GNU_SOURCE
#include "echo_contract.h"

#include "usage.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes the message. Numbers below 10**15 are printed whole. */
static void say(cJSON *message) {
  char *line = cJSON_PrintUnformatted(message);
  puts(line);
  fflush(stdout);
  cJSON_free(line);
  cJSON_Delete(message);
}

/* Takes nothing: the strings are copied. */
static void add_runtime(cJSON *ready, const struct echo_library *library) {
  char program[64];
  snprintf(program, sizeof program, "echo-%s", library->name);
  cJSON *runtime = cJSON_AddObjectToObject(ready, "runtime");
  cJSON_AddFalseToObject(runtime, "gil_enabled");
  cJSON_AddStringToObject(runtime, "program", program);
  cJSON_AddStringToObject(runtime, "version", GILSCOPE_VERSION);
  cJSON_AddStringToObject(runtime, "compiler", library->compiler);
  cJSON *packages = cJSON_AddObjectToObject(runtime, "packages");
  cJSON_AddStringToObject(packages, library->package.name, library->package.version);
  cJSON_AddStringToObject(packages, "cJSON", cJSON_Version());
}

static void say_ready(const struct echo_library *library, const char *address) {
  cJSON *ready = cJSON_CreateObject();
  cJSON_AddTrueToObject(ready, "ready");
  cJSON_AddNumberToObject(ready, "pid", getpid());
  cJSON_AddItemToArray(cJSON_AddArrayToObject(ready, "addresses"), cJSON_CreateString(address));
  add_runtime(ready, library);
  say(ready);
}

static void say_reset(void) {
  cJSON *done = cJSON_CreateObject();
  cJSON_AddTrueToObject(done, "reset");
  say(done);
}

static void say_result(const struct usage *usage, unsigned long long echoed_bytes, long message_bytes) {
  cJSON *line = cJSON_CreateObject();
  cJSON *result = cJSON_AddObjectToObject(line, "result");
  cJSON_AddNumberToObject(result, "cpu_user_ns", usage->cpu_user_ns);
  cJSON_AddNumberToObject(result, "cpu_system_ns", usage->cpu_system_ns);
  cJSON_AddNumberToObject(result, "voluntary_switches", usage->voluntary_switches);
  cJSON_AddNumberToObject(result, "involuntary_switches", usage->involuntary_switches);
  cJSON_AddNumberToObject(result, "run_queue_ns", usage->run_queue_ns);
  cJSON_AddNumberToObject(result, "max_rss_bytes", usage->max_rss_bytes);
  cJSON_AddNumberToObject(result, "pss_bytes", usage->pss_bytes);
  cJSON_AddNumberToObject(result, "requests", echoed_bytes / message_bytes);
  cJSON_AddNumberToObject(result, "echoed_bytes", echoed_bytes);
  cJSON_AddFalseToObject(result, "gil_enabled_ready");
  cJSON_AddFalseToObject(result, "gil_enabled_end");
  say(line);
}

void echo_contract_speak(const struct echo_library *library, const char *address, long message_bytes,
                         unsigned long long (*counted_bytes)(void)) {
  char *word = NULL;
  size_t capacity_bytes = 0;
  struct usage start = usage_now();
  unsigned long long start_bytes = counted_bytes();
  say_ready(library, address);
  while (getline(&word, &capacity_bytes, stdin) >= 0) {
    if (strcmp(word, "reset\n") != 0) continue;
    start_bytes = counted_bytes();
    start = usage_now();
    say_reset();
  }
  struct usage usage = usage_since(&start);
  say_result(&usage, counted_bytes() - start_bytes, message_bytes);
  free(word);
}
