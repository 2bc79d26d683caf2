// The native row of the http-clients experiment: Boost.Beast, a thread and a keep-alive connection for each of
// NUM_CONNECTIONS_PER_CLIENT workers. It speaks the child contract of a client: docs/child-contract.md.
#include "boost_version.hpp"
#include "compiler.h"
#include "result.hpp"
#include "plan.hpp"
#include "worker.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <iostream>
#include <thread>

#include <unistd.h>

namespace {

using nlohmann::json;

enum Status { kDone = 0, kBadInput = 2, kStoppedEarly = 3 };

void say(const json& message) { std::cout << message.dump() << std::endl; }

[[noreturn]] void exit_at_once(Status status) {
  std::cout.flush();
  _exit(status);
}

std::string next_line() {
  std::string line;
  if (!std::getline(std::cin, line)) exit_at_once(kStoppedEarly);
  return line;
}

void stay_on(const std::vector<int>& cpus) {
  if (usage_stay_on(cpus.data(), static_cast<int>(cpus.size())) != 0)
    throw BadInput("cpus is " + json(cpus).dump() + "; it must be numbers of CPUs that this process may use.");
}

// What this program is.
json runtime() {
  const json packages = {{"boost", boost_version()}};
  return {{"gil_enabled", false},
          {"program", "http-beast"},
          {"version", GILSCOPE_VERSION},
          {"compiler", GILSCOPE_COMPILER},
          {"packages", packages}};
}

Workers open_workers(const Plan& plan, const Flags& flags) {
  Workers workers;
  for (const Place& place : plan.places) workers.emplace_back(place, flags);
  open_all(workers);
  return workers;
}

void warm_until_go(Workers& workers, const Quota& warmup) {
  for (std::string word = next_line(); word != "go"; word = next_line()) {
    if (word != "warm") continue;
    race(workers, warmup);
    for (Worker& worker : workers) worker.forget();
    say({{"warm", true}});
  }
}

// From now on, end of file on stdin ends the process, whatever the workers do: with 0 once the result is printed.
std::thread watch_parent(const std::atomic<bool>& result_is_printed) {
  return std::thread([&result_is_printed] {
    for (std::string line; std::getline(std::cin, line);) {
    }
    _exit(result_is_printed ? kDone : kStoppedEarly);
  });
}

[[noreturn]] void run(const Flags& flags) {
  const Plan plan = read_plan(next_line());
  stay_on(plan.cpus);
  Workers workers = open_workers(plan, flags);
  say({{"ready", true}, {"pid", getpid()}, {"addresses", json::array()}, {"runtime", runtime()}});
  warm_until_go(workers, plan.warmup);
  std::atomic<bool> result_is_printed = false;
  std::thread watch = watch_parent(result_is_printed);
  const usage start = usage_now();
  const Race timed = race(workers, plan.timed);
  const json result_line = {{"result", result(workers, timed, usage_since(&start))}};
  result_is_printed = true;
  say(result_line);
  watch.join();
  exit_at_once(kDone);
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);  // the watch reads while the main thread writes
  try {
    run(read_flags(argc, argv));
  } catch (const BadInput& bad) {
    std::cerr << bad.what() << std::endl;
    return kBadInput;
  }
}
