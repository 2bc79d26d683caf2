#define _GNU_SOURCE
#include "usage.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

static int64_t to_ns(struct timeval time) {
  return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_usec * 1000;
}

/* The number behind *key* in a file of lines like `VmHWM:   24342 kB`, in bytes. */
static int64_t kib_line_bytes(const char *path, const char *key) {
  char line[256];
  long long kib = 0;
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%lld", &kib) == 1) break;
  }
  fclose(file);
  return kib * 1024;
}

/* Source: Linux, Documentation/scheduler/sched-stats.rst: the second number. */
static int64_t schedstat_wait_ns(const char *path) {
  long long running_ns, waiting_ns = 0;
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%lld %lld", &running_ns, &waiting_ns) != 2) waiting_ns = 0;
  fclose(file);
  return waiting_ns;
}

static int64_t run_queue_ns(void) {
  char path[320];
  int64_t waiting_ns = 0;
  DIR *threads = opendir("/proc/self/task");
  if (threads == NULL) return 0;
  for (struct dirent *thread = readdir(threads); thread != NULL; thread = readdir(threads)) {
    if (thread->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", thread->d_name);
    waiting_ns += schedstat_wait_ns(path);
  }
  closedir(threads);
  return waiting_ns;
}

int64_t usage_thread_run_queue_ns(void) { return schedstat_wait_ns("/proc/thread-self/schedstat"); }

struct usage usage_now(void) {
  struct rusage counted;
  getrusage(RUSAGE_SELF, &counted);
  return (struct usage){
      .cpu_user_ns = to_ns(counted.ru_utime),
      .cpu_system_ns = to_ns(counted.ru_stime),
      .voluntary_switches = counted.ru_nvcsw,
      .involuntary_switches = counted.ru_nivcsw,
      .run_queue_ns = run_queue_ns(),
      /* ru_maxrss of a child starts at its parent's: getrusage(2), docs/decisions/006-peak-memory.md. */
      .max_rss_bytes = kib_line_bytes("/proc/self/status", "VmHWM:"),
      .pss_bytes = kib_line_bytes("/proc/self/smaps_rollup", "Pss:"),
  };
}

struct usage usage_since(const struct usage *start) {
  struct usage now = usage_now();
  now.cpu_user_ns -= start->cpu_user_ns;
  now.cpu_system_ns -= start->cpu_system_ns;
  now.voluntary_switches -= start->voluntary_switches;
  now.involuntary_switches -= start->involuntary_switches;
  now.run_queue_ns -= start->run_queue_ns;
  if (now.run_queue_ns < 0) now.run_queue_ns = 0; /* threads that have ended are counted no more */
  return now;
}

int usage_stay_on(const int *cpus, int count) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int i = 0; i < count; i++) {
    if (cpus[i] >= 0 && cpus[i] < CPU_SETSIZE) CPU_SET(cpus[i], &set);
  }
  return count == 0 ? 0 : sched_setaffinity(0, sizeof set, &set);
}
