// Echo with Boost.Asio and callbacks. All threads run one io_context; a connection has one operation under way at
// a time, so it needs no strand.
#include "asio_stream.hpp"

#include <boost/asio.hpp>

#include <array>
#include <memory>
#include <utility>

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// One connection. The operation under way owns it, so it goes when an operation fails.
class Connection : public std::enable_shared_from_this<Connection> {
public:
  explicit Connection(Protocol::socket socket) : socket_(std::move(socket)) {}

  void read() {
    socket_.async_read_some(asio::buffer(data_),
                            [self = shared_from_this()](error_code failed, std::size_t size_bytes) {
                              if (!failed) self->write(size_bytes);
                            });
  }

private:
  void write(std::size_t size_bytes) {
    echo_count(size_bytes);
    asio::async_write(socket_, asio::buffer(data_, size_bytes),
                      [self = shared_from_this()](error_code failed, std::size_t) {
                        if (!failed) self->read();
                      });
  }

  Protocol::socket socket_;
  std::array<char, ECHO_READ_BYTES> data_;
};

class Server {
public:
  Server(const echo_settings& settings, int listener)
      : settings_(settings), context_(settings.threads), acceptor_(context_), later_(context_) {
    assign(acceptor_, settings, listener);
    accept();
  }

  void run() { context_.run(); }

private:
  void accept() {
    acceptor_.async_accept([this](error_code failed, Protocol::socket socket) {
      if (failed && failed != asio::error::connection_aborted) return accept_later(failed);
      if (!failed) {
        set_options(socket, settings_);
        std::make_shared<Connection>(std::move(socket))->read();
      }
      accept();
    });
  }

  void accept_later(error_code failed) {
    report_failed_accept(failed);
    later_.expires_after(kRetryAcceptAfter);
    later_.async_wait([this](error_code) { accept(); });
  }

  const echo_settings& settings_;
  asio::io_context context_;
  Acceptor acceptor_;
  asio::steady_timer later_;
};

}  // namespace

int main(int argc, char** argv) { return run_asio_server<Server>(argc, argv, "asio"); }
