// An HTTP/1.1 client of one connection: connect, GET, the whole body. The native row and the Python
// extension beastclient are both made of it, so it knows neither JSON nor Python.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

namespace http_beast {

// A request that got no usable answer. code(): connect, closed, reset, timeout, garbled or extra, as in
// docs/child-contract.md.
class Failed : public std::runtime_error {
public:
  Failed(const char* code, const std::string& why) : std::runtime_error(std::string(code) + ": " + why), code_(code) {}
  const char* code() const noexcept { return code_; }

private:
  const char* code_;
};

// One answer. length_bytes: of its body.
struct Answer {
  unsigned status;
  std::size_t length_bytes;
};

// One connection to one server, kept alive between requests, which all get the same path. Blocks; not shared between
// threads. It keeps no time: who calls it does.
class Client {
public:
  // timeout: of a connect and of a request, the second at most doubled by a peer that drips bytes.
  Client(std::string host, std::string port, std::chrono::nanoseconds timeout, const std::string& path = "/");
  ~Client();

  // Whether get() can be called: false before connect(), after a failure, and when the server closes.
  bool is_connected() const;

  void close();

  // Open the connection, a new one if there is one. Throws Failed.
  void connect();

  // GET the path and read all of the answer. Throws Failed, and then the connection is closed.
  Answer get();

  // The body of the last answer, until the next get().
  const std::string& body() const;

private:
  // What Boost is needed for is compiled once, for the native row and for all modules of the extension.
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace http_beast
