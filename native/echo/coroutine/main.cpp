// Echo with stackful coroutines: asio + Boost.Context coroutines, in place of libco, which no package registry has.
// A coroutine for each connection reads as if it blocked; asio::spawn switches stacks instead.
#include "asio_stream.hpp"

#include <boost/asio.hpp>
#include <boost/asio/spawn.hpp>

#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr auto kRetryAfter = std::chrono::milliseconds(100);

void echo(Protocol::socket& socket, asio::yield_context yield) {
  std::vector<char> data(ECHO_READ_BYTES);  // not on the coroutine's stack, which is small
  error_code failed;
  while (true) {
    const std::size_t size_bytes = socket.async_read_some(asio::buffer(data), yield[failed]);
    if (failed) return;
    echo_count(size_bytes);
    asio::async_write(socket, asio::buffer(data, size_bytes), yield[failed]);
    if (failed) return;
  }
}

class Server {
public:
  Server(const echo_settings& settings, int listener)
      : settings_(settings), context_(settings.threads), acceptor_(context_) {
    assign(acceptor_, settings, listener);
    asio::spawn(context_, [this](asio::yield_context yield) { accept(yield); });
  }

  void run() { context_.run(); }

private:
  void accept(asio::yield_context yield) {
    asio::steady_timer later(context_);
    while (true) {
      error_code failed;
      Protocol::socket socket(context_);
      acceptor_.async_accept(socket, yield[failed]);
      if (!failed) {
        start(std::move(socket));
      } else if (failed != asio::error::connection_aborted) {
        // Out of descriptors, most likely: trying again at once would only burn the core.
        std::fprintf(stderr, "A connection could not be accepted: %s.\n", failed.message().c_str());
        later.expires_after(kRetryAfter);
        later.async_wait(yield[failed]);
      }
    }
  }

  void start(Protocol::socket socket) {
    set_options(socket, settings_);
    asio::spawn(context_, [socket = std::move(socket)](asio::yield_context yield) mutable { echo(socket, yield); });
  }

  const echo_settings& settings_;
  asio::io_context context_;
  Acceptor acceptor_;
};

}  // namespace

int main(int argc, char** argv) {
  static const echo_library library{
      "coroutine", [](const echo_settings* settings, int listener) -> void* { return new Server(*settings, listener); },
      [](void* server) { static_cast<Server*>(server)->run(); }};
  return echo_main(argc, argv, &library);
}
