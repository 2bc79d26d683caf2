// What the two asio servers share: one type of socket for TCP and Unix, and its options.
#pragma once

#include "boost_version.hpp"
#include "echo.h"

#include <boost/asio.hpp>

using Protocol = boost::asio::generic::stream_protocol;
using Acceptor = boost::asio::basic_socket_acceptor<Protocol>;

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
