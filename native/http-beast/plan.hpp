// What the client is to do: its flags, and the cell on the first line of stdin.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

// A flag or the cell is wrong: what, the value seen, what is accepted.
class BadInput : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// From the command line.
struct Flags {
  std::size_t expected_bytes = 13;             // --expect-length: of the body of each answer
  std::chrono::milliseconds timeout{5000};     // --timeout-ms: of a connect and of a request
};

struct Place {
  std::string host;
  std::string port;
};

// How much the workers send: each its number of requests, or for so long.
struct Quota {
  std::vector<std::int64_t> requests;
  std::optional<std::chrono::nanoseconds> duration;
};

// From the cell.
struct Plan {
  std::vector<Place> places;  // one for each worker
  Quota warmup;
  Quota timed;
  std::vector<int> cpus;
};

// Throws BadInput.
Flags read_flags(int argc, char** argv);
Plan read_plan(const std::string& line);
