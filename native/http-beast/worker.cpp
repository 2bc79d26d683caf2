#include "worker.hpp"

#include "clock.hpp"
#include "usage.h"

#include <limits>
#include <thread>

namespace {

constexpr int kGiveUpAfter = 10;
constexpr std::size_t kTimelineRequests = 100;
constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

}  // namespace

Worker::Worker(const Place& place, const Flags& flags)
    : client_(place.host, place.port, flags.timeout), expected_bytes_(flags.expected_bytes) {}

void Worker::open() {
  const std::int64_t begun_ns = http_beast::now_ns();
  try {
    client_.connect();
    client_.get();
    tally_.connect.record(http_beast::now_ns() - begun_ns);
  } catch (const http_beast::Failed&) {
    client_.close();
  }
}

void Worker::call(std::int64_t requests, std::int64_t until_ns) {
  const std::int64_t begun_ns = http_beast::now_ns();
  int failures = 0;
  std::int64_t number = 0, received_ns = 0;
  tally_.timeline.reserve(kTimelineRequests);
  while (number < requests && failures < kGiveUpAfter && received_ns < until_ns) {
    const bool noted = static_cast<std::size_t>(number) < kTimelineRequests;
    failures = ask(noted, received_ns) ? 0 : failures + 1;
    ++number;
  }
  tally_.loop_ns = http_beast::now_ns() - begun_ns;
  tally_.sent += requests == kNoEnd ? number : requests;
  tally_.run_queue_ns = usage_thread_run_queue_ns();
}

// One request; whether an answer came, right or not. Connecting is no part of its latency.
bool Worker::ask(bool noted, std::int64_t& received_ns) {
  try {
    if (!client_.is_connected()) client_.connect();
    const std::int64_t sent_ns = http_beast::now_ns();
    const http_beast::Answer answer = client_.get();
    received_ns = http_beast::now_ns();
    tally_.latency.record(received_ns - sent_ns);
    if (noted) tally_.timeline.emplace_back(sent_ns, received_ns);
    if (!is_right(answer)) client_.close();
    return true;
  } catch (const http_beast::Failed& failed) {
    ++tally_.errors[failed.code()];
    return false;
  }
}

bool Worker::is_right(const http_beast::Answer& answer) {
  ++tally_.answered;
  if (answer.status != 200) {
    ++tally_.errors[std::to_string(answer.status)];
    return false;
  }
  if (answer.length_bytes == expected_bytes_) return true;
  ++tally_.wrong;
  return false;
}

void Worker::forget() {
  Histogram connect = std::move(tally_.connect);
  tally_ = Tally();
  tally_.connect = std::move(connect);
}

void open_all(Workers& workers) {
  std::vector<std::thread> threads;
  for (Worker& worker : workers) threads.emplace_back(&Worker::open, &worker);
  for (std::thread& thread : threads) thread.join();
}

Race race(Workers& workers, const Quota& quota) {
  const std::int64_t started_ns = http_beast::now_ns();
  const std::int64_t until_ns = quota.duration ? started_ns + quota.duration->count() : kNoEnd;
  std::vector<std::thread> threads;
  threads.reserve(workers.size());
  for (std::size_t number = 0; number < workers.size(); ++number)
    threads.emplace_back(&Worker::call, &workers[number], quota.duration ? kNoEnd : quota.requests[number], until_ns);
  for (std::thread& thread : threads) thread.join();
  return {started_ns, http_beast::now_ns()};
}
