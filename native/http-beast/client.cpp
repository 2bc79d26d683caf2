#include "client.hpp"

#include "socket.hpp"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <utility>

namespace http_beast {

namespace http = boost::beast::http;

struct Client::Parts {
  Parts(std::string host_, std::string port_, std::chrono::nanoseconds timeout, const std::string& path)
      : host(std::move(host_)), port(std::move(port_)), socket(timeout), request(http::verb::get, path, 11) {
    request.set(http::field::host, host + ":" + port);
    request.set(http::field::user_agent, "gilscope-beast");
  }

  [[noreturn]] void fail(const char* code, const std::string& why) {
    socket.close();
    throw Failed(code, why);
  }

  std::string host;
  std::string port;
  Socket socket;
  http::request<http::empty_body> request;
  http::response<http::string_body> response;
  boost::beast::flat_buffer received;
};

namespace {

const char* code_of(const boost::system::error_code& failed) {
  namespace errc = boost::system::errc;
  if (failed == boost::beast::error::timeout) return "timeout";
  if (failed == http::error::end_of_stream || failed == http::error::partial_message) return "closed";
  if (failed == errc::connection_reset || failed == errc::broken_pipe) return "reset";
  return "garbled";
}

}  // namespace

Client::Client(std::string host, std::string port, std::chrono::nanoseconds timeout, const std::string& path)
    : parts_(std::make_unique<Parts>(std::move(host), std::move(port), timeout, path)) {}

Client::~Client() = default;

bool Client::is_connected() const { return parts_->socket.is_open(); }

void Client::close() { parts_->socket.close(); }

void Client::connect() {
  boost::system::error_code failed;
  parts_->received.clear();
  parts_->socket.connect(parts_->host, parts_->port, failed);
  if (failed) throw Failed(failed == boost::beast::error::timeout ? "timeout" : "connect", failed.message());
}

Answer Client::get() {
  Parts& parts = *parts_;
  if (!is_connected()) throw Failed("closed", "there is no connection; call connect() first");
  parts.response = {};
  parts.socket.begin();
  boost::system::error_code failed;
  http::write(parts.socket, parts.request, failed);
  if (!failed) http::read(parts.socket, parts.received, parts.response, failed);
  if (failed) parts.fail(code_of(failed), failed.message());
  if (parts.received.size() != 0) parts.fail("extra", "bytes came behind the answer");
  if (parts.response.need_eof()) close();
  return {parts.response.result_int(), parts.response.body().size()};
}

const std::string& Client::body() const { return parts_->response.body(); }

}  // namespace http_beast
