#include "plan.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include <getopt.h>

namespace {

using nlohmann::json;

long read_whole(const std::string& name, const std::string& text, long low) {
  std::size_t used = 0;
  long number = 0;
  try {
    number = std::stol(text, &used);
  } catch (const std::logic_error&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || number < low)
    throw BadInput(name + " is " + text + "; it must be a whole number of at least " + std::to_string(low) + ".");
  return number;
}

// The remainder goes to the first ones.
std::vector<std::int64_t> shares(std::int64_t requests, std::int64_t workers) {
  std::vector<std::int64_t> shared(workers, requests / workers);
  for (std::int64_t number = 0; number < requests % workers; ++number) ++shared[number];
  return shared;
}

Quota quota(std::int64_t requests, std::int64_t workers, double duration_s) {
  if (duration_s > 0) return {{}, std::chrono::nanoseconds(std::llround(duration_s * 1e9))};
  return {shares(requests, workers), std::nullopt};
}

// At least one request for each worker; with a duration, the share is one of the duration.
Quota warmup_quota(const json& method, std::int64_t requests, std::int64_t workers) {
  const double duration_s = method.value("duration_s", 0.0);
  const json warmup = method.value("warmup", json::object());
  double share = warmup.value("share", 0.0), seconds = warmup.value("seconds", 0.0);
  if (duration_s > 0 && seconds == 0) seconds = share * duration_s;
  return quota(std::max<std::int64_t>(workers, std::llround(share * static_cast<double>(requests))), workers, seconds);
}

Place place_of(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos)
    throw BadInput("An address is " + address + "; it must be host:port, because this client speaks TCP only.");
  return {address.substr(0, colon), address.substr(colon + 1)};
}

// The workers of all clients, one after the other, go round the services.
std::vector<Place> places(const json& addresses, std::int64_t client_id, std::int64_t workers) {
  std::vector<Place> chosen;
  if (addresses.empty()) throw BadInput("addresses is []; it must have a list for each service.");
  for (std::int64_t number = 0; number < workers; ++number)
    chosen.push_back(place_of(addresses.at((client_id * workers + number) % addresses.size()).at(0)));
  return chosen;
}

Plan plan_of(const json& cell) {
  const json& params = cell.at("params");
  const json& addresses = cell.at("addresses");
  const json method = cell.value("method", json::object());
  const auto workers = params.value("NUM_CONNECTIONS_PER_CLIENT", std::int64_t{1});
  const auto requests = params.at("NUM_REQUESTS_PER_CLIENT").get<std::int64_t>() *
                        static_cast<std::int64_t>(addresses.size());
  if (workers < 1)
    throw BadInput("NUM_CONNECTIONS_PER_CLIENT is " + std::to_string(workers) + "; it must be at least 1.");
  return {places(addresses, cell.value("client_id", std::int64_t{0}), workers),
          warmup_quota(method, requests, workers), quota(requests, workers, method.value("duration_s", 0.0)),
          cell.value("cpus", std::vector<int>())};
}

}  // namespace

Flags read_flags(int argc, char** argv) {
  static const option names[] = {{"child", no_argument, nullptr, 'c'},
                                 {"expect-length", required_argument, nullptr, 'l'},
                                 {"timeout-ms", required_argument, nullptr, 't'},
                                 {nullptr, 0, nullptr, 0}};
  Flags flags;
  for (int flag; (flag = getopt_long(argc, argv, "", names, nullptr)) != -1;) {
    if (flag == 'l') flags.expected_bytes = read_whole("--expect-length", optarg, 0);
    if (flag == 't') flags.timeout = std::chrono::milliseconds(read_whole("--timeout-ms", optarg, 1));
    if (flag == '?') throw BadInput("Accepted are --child, --expect-length BYTES and --timeout-ms NUMBER.");
  }
  return flags;
}

Plan read_plan(const std::string& line) {
  try {
    return plan_of(json::parse(line));
  } catch (const json::exception& error) {
    throw BadInput(std::string("The first line of standard input is not a cell for a client: ") + error.what());
  }
}
