// Echo with stackful coroutines: asio + Boost.Context coroutines, in place of libco, which no package registry has.
// A coroutine for each connection reads as if it blocked; where it would, another stack runs.
#include "asio_stream.hpp"
#include "coroutine.hpp"

#include <boost/asio.hpp>

#include <memory>
#include <utility>

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

void echo(Protocol::socket& socket, Coroutine& coroutine) {
  // not on the coroutine's stack, which is small, and not filled: what no message needs is never touched
  const std::unique_ptr<char[]> data(new char[ECHO_READ_BYTES]);
  error_code failed;
  while (true) {
    const std::size_t size_bytes = coroutine.wait(failed, [&](auto handler) {
      socket.async_read_some(asio::buffer(data.get(), ECHO_READ_BYTES), std::move(handler));
    });
    if (failed) return;
    echo_count(size_bytes);
    coroutine.wait(failed, [&](auto handler) {
      asio::async_write(socket, asio::buffer(data.get(), size_bytes), std::move(handler));
    });
    if (failed) return;
  }
}

class Server {
public:
  Server(const echo_settings& settings, int listener)
      : settings_(settings), context_(settings.threads), acceptor_(asio::make_strand(context_)) {
    assign(acceptor_, settings, listener);
    Coroutine::start(acceptor_.get_executor(), [this](Coroutine& coroutine) { accept(coroutine); });
  }

  void run() { context_.run(); }

private:
  void accept(Coroutine& coroutine) {
    asio::steady_timer later(acceptor_.get_executor());
    while (true) {
      error_code failed;
      Protocol::socket socket(asio::make_strand(context_));
      coroutine.wait(failed, [&](auto handler) { acceptor_.async_accept(socket, std::move(handler)); });
      if (!failed) {
        start(std::move(socket));
      } else if (failed != asio::error::connection_aborted) {
        report_failed_accept(failed);
        later.expires_after(kRetryAcceptAfter);
        coroutine.wait(failed, [&](auto handler) { later.async_wait(std::move(handler)); });
      }
    }
  }

  void start(Protocol::socket socket) {
    set_options(socket, settings_);
    const auto strand = socket.get_executor();
    Coroutine::start(strand, [socket = std::move(socket)](Coroutine& coroutine) mutable { echo(socket, coroutine); });
  }

  const echo_settings& settings_;
  asio::io_context context_;
  Acceptor acceptor_;
};

}  // namespace

int main(int argc, char** argv) { return run_asio_server<Server>(argc, argv, "coroutine"); }
