#define _GNU_SOURCE
#include "echo.h"

#include "flags.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SLOTS = 64, CACHE_LINE_BYTES = 64 };

/* One for each thread, as long as there are no more than SLOTS, so that threads share no cache line. */
static struct {
  _Alignas(CACHE_LINE_BYTES) atomic_ullong size_bytes;
} echoed[SLOTS];

static atomic_uint next_slot;
static _Thread_local unsigned own_slot;

void echo_count(size_t size_bytes) {
  atomic_fetch_add_explicit(&echoed[own_slot].size_bytes, size_bytes, memory_order_relaxed);
}

static unsigned long long echoed_bytes(void) {
  unsigned long long size_bytes = 0;
  for (int i = 0; i < SLOTS; i++) size_bytes += atomic_load_explicit(&echoed[i].size_bytes, memory_order_relaxed);
  return size_bytes;
}

struct serving {
  const struct echo_library *library;
  void *server;
};

static void *serve_in_thread(void *argument) {
  const struct serving *serving = argument;
  own_slot = atomic_fetch_add(&next_slot, 1) % SLOTS;
  serving->library->serve(serving->server);
  return NULL;
}

static int start_threads(const struct serving *serving, int threads) {
  for (int i = 0; i < threads; i++) {
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, serve_in_thread, (void *)serving);
    if (failed != 0) {
      fprintf(stderr, "Thread %d of %d could not be started: %s.\n", i + 1, threads, strerror(failed));
      return -1;
    }
  }
  return 0;
}

/* As many connections as the hard limit allows. */
static void raise_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/* SIGINT and SIGTERM end a server that is not controlled; all threads leave them to wait_for_signal(). */
static void block_end_signals(sigset_t *ends) {
  sigemptyset(ends);
  sigaddset(ends, SIGINT);
  sigaddset(ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, ends, NULL);
}

static void wait_for_signal(const sigset_t *ends) {
  int received;
  sigwait(ends, &received);
}

static void answer_until_end_of_file(void) {
  char *line = NULL;
  size_t capacity_bytes = 0;
  while (getline(&line, &capacity_bytes, stdin) >= 0) {
    printf("%llu\n", echoed_bytes());
    fflush(stdout);
  }
  free(line);
}

/* One `key: value` a line, `listening` last: then it accepts connections. */
static void print_facts(const struct echo_library *library, const char *address) {
  printf("program: echo-%s\nversion: %s\ncompiler: %s\npackage: %s %s\nlistening: %s\n", library->name,
         GILSCOPE_VERSION, library->compiler, library->package.name, library->package.version, address);
  fflush(stdout);
}

/* The threads that serve never end by themselves, so the process ends with them: nothing is joined. */
int echo_main(int argc, char **argv, const struct echo_library *library) {
  static struct echo_settings settings;
  static struct serving serving;
  char address[ECHO_ADDRESS_BYTES];
  sigset_t ends;
  if (echo_read_flags(argc, argv, &settings) != 0) return 2;
  signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  int listener = echo_listen(&settings, address);
  if (listener < 0) return 1;
  if (!settings.is_controlled) block_end_signals(&ends);
  serving = (struct serving){library, library->open(&settings, listener)};
  if (start_threads(&serving, settings.threads) != 0) return 1;
  print_facts(library, address);
  if (settings.is_controlled) {
    answer_until_end_of_file();
  } else {
    wait_for_signal(&ends);
  }
  if (settings.path != NULL) unlink(settings.path);
  _exit(0);
}
