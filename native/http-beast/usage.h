/* What the operating system has counted for this process, for the result of a child: docs/child-contract.md. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CPU times, context switches and waits for a core count from the start of the process, or from what was taken off. */
struct usage {
  int64_t cpu_user_ns;
  int64_t cpu_system_ns;
  int64_t voluntary_switches;
  int64_t involuntary_switches;
  int64_t run_queue_ns;  /* of the threads there are now */
  int64_t max_rss_bytes; /* peak of the process */
  int64_t pss_bytes;     /* now; pages that processes share count by their share; 0 where /proc does not say */
};

/* Everything, now. */
struct usage usage_now(void);

/* Everything, now; what counts up counts from *start. */
struct usage usage_since(const struct usage *start);

/* How long the calling thread has been ready to run without a core, ns. 0 where /proc does not say. */
int64_t usage_thread_run_queue_ns(void);

/* Run on these CPUs only, and every thread that is started from now on; none for wherever the kernel likes.
   0, or -1 and errno. */
int usage_stay_on(const int *cpus, int count);

#ifdef __cplusplus
}
#endif
