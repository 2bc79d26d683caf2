// A blocking TCP socket with deadlines, as Beast wants a stream.
//
// Asio's own blocking calls wait for ever: they poll again when SO_RCVTIMEO has run out. So recv(2) and send(2)
// are called here.
#pragma once

#include "clock.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

namespace http_beast {

// The same to a few milliseconds, which is enough for a deadline and costs a fraction: clock_getres(2).
inline std::int64_t about_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// A Beast SyncStream over one descriptor. Not shared between threads.
class Socket {
public:
  using error_code = boost::system::error_code;

  // timeout: of each wait for the peer, and of all waits from begin() on together.
  explicit Socket(std::chrono::nanoseconds timeout) : timeout_(timeout) {}
  ~Socket() { close(); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool is_open() const { return fd_ >= 0; }

  void close() {
    if (is_open()) ::close(fd_);
    fd_ = -1;
  }

  // Connect to the first address of *host*:*port* that answers, with TCP_NODELAY.
  void connect(const std::string& host, const std::string& port, error_code& failed) {
    addrinfo wanted{}, *first = nullptr;
    wanted.ai_socktype = SOCK_STREAM;
    if (::getaddrinfo(host.c_str(), port.c_str(), &wanted, &first) != 0) {
      failed = boost::asio::error::host_not_found;
      return;
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(first, ::freeaddrinfo);
    for (const addrinfo* address = first; address != nullptr; address = address->ai_next) {
      connect_to(*address, failed);
      if (!failed) return;
    }
  }

  // A request begins now: its reads and writes share one deadline.
  void begin() { until_ns_ = about_now_ns() + timeout_.count(); }

  template <class Buffers>
  std::size_t read_some(const Buffers& buffers, error_code& failed) {
    return move(buffers, failed, ::recvmsg, 0, true);
  }

  template <class Buffers>
  std::size_t write_some(const Buffers& buffers, error_code& failed) {
    return move(buffers, failed, ::sendmsg, MSG_NOSIGNAL, false);
  }

  template <class Buffers>
  std::size_t read_some(const Buffers& buffers) {
    return or_throw([&](error_code& failed) { return read_some(buffers, failed); });
  }

  template <class Buffers>
  std::size_t write_some(const Buffers& buffers) {
    return or_throw([&](error_code& failed) { return write_some(buffers, failed); });
  }

private:
  static constexpr int kMostBuffers = 16;

  void connect_to(const addrinfo& address, error_code& failed) {
    close();
    fd_ = ::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, address.ai_protocol);
    failed = {};
    if (is_open() && set_options() && ::connect(fd_, address.ai_addr, address.ai_addrlen) == 0) return;
    failed = last_error();
    close();
  }

  bool set_options() {
    const auto whole_us = std::chrono::duration_cast<std::chrono::microseconds>(timeout_).count();
    const timeval limit{whole_us / 1'000'000, whole_us % 1'000'000};
    const int on = 1;
    return ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
           ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
           ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
  }

  // One recvmsg or sendmsg. A peer that drips bytes is stopped by until_ns_, a silent one by SO_RCVTIMEO.
  template <class Buffers, class Call>
  std::size_t move(const Buffers& buffers, error_code& failed, Call call, int flags, bool end_is_eof) {
    iovec parts[kMostBuffers];
    msghdr message{};
    message.msg_iov = parts;
    const std::size_t wanted_bytes = fill(buffers, message);
    failed = {};
    if (wanted_bytes == 0) return 0;
    if (about_now_ns() > until_ns_) {
      failed = boost::beast::error::timeout;
      return 0;
    }
    ssize_t moved_bytes;
    do moved_bytes = call(fd_, &message, flags);
    while (moved_bytes < 0 && errno == EINTR);
    if (moved_bytes < 0) failed = last_error();
    if (moved_bytes == 0 && end_is_eof) failed = boost::asio::error::eof;
    return moved_bytes < 0 ? 0 : static_cast<std::size_t>(moved_bytes);
  }

  template <class Buffers>
  static std::size_t fill(const Buffers& buffers, msghdr& message) {
    std::size_t size_bytes = 0;
    for (const auto buffer : boost::beast::buffers_range_ref(buffers)) {
      if (message.msg_iovlen == kMostBuffers) break;
      message.msg_iov[message.msg_iovlen++] = {const_cast<void*>(static_cast<const void*>(buffer.data())),
                                               buffer.size()};
      size_bytes += buffer.size();
    }
    return size_bytes;
  }

  // EAGAIN (recv, send) and EINPROGRESS (connect) of a blocking socket are its timeout: socket(7).
  static error_code last_error() {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINPROGRESS) return boost::beast::error::timeout;
    return {errno, boost::system::system_category()};
  }

  template <class Call>
  static std::size_t or_throw(Call call) {
    error_code failed;
    const std::size_t moved_bytes = call(failed);
    if (failed) throw boost::system::system_error(failed);
    return moved_bytes;
  }

  std::chrono::nanoseconds timeout_;
  std::int64_t until_ns_ = 0;
  int fd_ = -1;
};

}  // namespace http_beast
