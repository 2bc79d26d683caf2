// What the two asio servers share: one type of socket for TCP and Unix, its options, failed accepts, and main().
#pragma once

#include "boost_version.hpp"
#include "echo.h"

#include <boost/asio.hpp>

#include <chrono>
#include <cstdio>

using Protocol = boost::asio::generic::stream_protocol;
using Acceptor = boost::asio::basic_socket_acceptor<Protocol>;

// How long to wait after a failed accept: the process is out of descriptors, most likely, and trying again at once
// would only burn the core.
constexpr auto kRetryAcceptAfter = std::chrono::milliseconds(100);

// Hand *listener* over to *acceptor*.
inline void assign(Acceptor& acceptor, const echo_settings& settings, int listener) {
  const bool is_unix = settings.path != nullptr;
  acceptor.assign(Protocol(is_unix ? AF_UNIX : AF_INET, is_unix ? 0 : IPPROTO_TCP), listener);
}

// A peer that has gone already makes this fail, and the first read too: no error is looked at.
inline void set_options(Protocol::socket& socket, const echo_settings& settings) {
  boost::system::error_code ignored;
  if (settings.path == nullptr) socket.set_option(boost::asio::ip::tcp::no_delay(settings.nodelay), ignored);
  if (settings.buffer_bytes == 0) return;
  socket.set_option(boost::asio::socket_base::send_buffer_size(settings.buffer_bytes), ignored);
  socket.set_option(boost::asio::socket_base::receive_buffer_size(settings.buffer_bytes), ignored);
}

inline void report_failed_accept(const boost::system::error_code& error) {
  std::fprintf(stderr, "A connection could not be accepted: %s.\n", error.message().c_str());
}

// The whole program for a class Server(settings, listener) with run().
template <class Server>
int run_asio_server(int argc, char** argv, const char* name) {
  const echo_library library{
      name, GILSCOPE_COMPILER, {"boost", boost_version()},
      [](const echo_settings* settings, int listener) -> void* { return new Server(*settings, listener); },
      [](void* server) { static_cast<Server*>(server)->run(); }};
  return echo_main(argc, argv, &library);
}
