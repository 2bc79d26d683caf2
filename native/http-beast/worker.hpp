// The workers of the client: one thread and one connection each.
#pragma once

#include "client.hpp"
#include "histogram.hpp"
#include "plan.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

// What one worker has counted; workers share nothing while timed.
struct Tally {
  std::int64_t sent = 0;
  std::int64_t answered = 0;
  std::int64_t wrong = 0;  // status 200 and another length
  std::int64_t loop_ns = 0;
  std::int64_t run_queue_ns = 0;
  std::map<std::string, std::int64_t> errors;
  Histogram latency;
  Histogram connect;
  std::vector<std::pair<std::int64_t, std::int64_t>> timeline;  // of its first answers, monotonic clock
};

// One connection, opened again after an error, and what its requests came to.
class Worker {
public:
  Worker(const Place& place, const Flags& flags);

  // Open the connection and use it once; both together are the connect, because most HTTP libraries of the other
  // rows connect in their first request. If it fails, the first request that is counted will say so.
  void open();

  // Send *requests* requests one after the other, or any number until *until_ns*. Gives up after ten
  // failures in a row: what was not sent is missing from answered.
  void call(std::int64_t requests, std::int64_t until_ns);

  // Start again at 0. The connects of before stay: those after an error are not counted.
  void forget();

  const Tally& tally() const { return tally_; }

private:
  bool ask(bool noted, std::int64_t& received_ns);
  bool is_right(const http_beast::Answer& answer);

  http_beast::Client client_;
  std::size_t expected_bytes_;
  Tally tally_;
};

using Workers = std::deque<Worker>;  // a worker cannot be moved

// All at once: a server that is silent costs one deadline, not one for each worker.
void open_all(Workers& workers);

// A thread for each worker, from making them to the last join.
struct Race {
  std::int64_t started_ns;
  std::int64_t finished_ns;
};

Race race(Workers& workers, const Quota& quota);
