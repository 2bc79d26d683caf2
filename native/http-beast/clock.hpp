// The clock of all times that the client reports.
#pragma once

#include <cstdint>
#include <ctime>

namespace http_beast {

// ns on the host's monotonic clock, what Python's time.perf_counter_ns() reads on Linux.
inline std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace http_beast
