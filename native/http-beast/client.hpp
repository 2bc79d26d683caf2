// An HTTP/1.1 client of one connection: connect, GET, the whole body. The native row and the Python
// extension beastclient are both made of it, so it knows neither JSON nor Python.
#pragma once

#include "socket.hpp"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <stdexcept>
#include <utility>

namespace http_beast {

namespace http = boost::beast::http;

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
  Client(std::string host, std::string port, std::chrono::nanoseconds timeout, const std::string& path = "/")
      : host_(std::move(host)), port_(std::move(port)), socket_(timeout), request_(http::verb::get, path, 11) {
    request_.set(http::field::host, host_ + ":" + port_);
    request_.set(http::field::user_agent, "gilscope-beast");
  }

  // Whether get() can be called: false before connect(), after a failure, and when the server closes.
  bool is_connected() const { return socket_.is_open(); }

  void close() { socket_.close(); }

  // Open the connection, a new one if there is one. Throws Failed.
  void connect() {
    boost::system::error_code failed;
    received_.clear();
    socket_.connect(host_, port_, failed);
    if (failed) throw Failed(failed == boost::beast::error::timeout ? "timeout" : "connect", failed.message());
  }

  // GET the path and read all of the answer. Throws Failed, and then the connection is closed.
  Answer get() {
    if (!is_connected()) throw Failed("closed", "there is no connection; call connect() first");
    response_ = {};
    socket_.begin();
    boost::system::error_code failed;
    http::write(socket_, request_, failed);
    if (!failed) http::read(socket_, received_, response_, failed);
    if (failed) fail(code_of(failed), failed.message());
    if (received_.size() != 0) fail("extra", "bytes came behind the answer");
    if (response_.need_eof()) close();
    return {response_.result_int(), response_.body().size()};
  }

  // The body of the last answer, until the next get().
  const std::string& body() const { return response_.body(); }

private:
  static const char* code_of(const boost::system::error_code& failed) {
    namespace errc = boost::system::errc;
    if (failed == boost::beast::error::timeout) return "timeout";
    if (failed == http::error::end_of_stream || failed == http::error::partial_message) return "closed";
    if (failed == errc::connection_reset || failed == errc::broken_pipe) return "reset";
    return "garbled";
  }

  [[noreturn]] void fail(const char* code, const std::string& why) {
    close();
    throw Failed(code, why);
  }

  std::string host_;
  std::string port_;
  Socket socket_;
  http::request<http::empty_body> request_;
  http::response<http::string_body> response_;
  boost::beast::flat_buffer received_;
};

}  // namespace http_beast
