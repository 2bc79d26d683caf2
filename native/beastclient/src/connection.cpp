// The Python module BEAST_MODULE: one HTTP connection that holds the GIL through its I/O, or releases it.
#include "client.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace nb = nanobind;

namespace {

constexpr double kLeastTimeoutS = 1e-6, kMostTimeoutS = 1e6;

struct KeepGil {};
// The whole difference between the modules `held` and `released`.
using Gil = std::conditional_t<BEAST_RELEASES_GIL, nb::gil_scoped_release, KeepGil>;

// Without the GIL nothing else keeps two threads from using one connection at once.
class Turn {
public:
  explicit Turn(std::atomic_flag& taken) : taken_(taken) {
    if (taken_.test_and_set(std::memory_order_acquire)) {
      throw std::runtime_error("the connection is in use by another thread; each thread needs its own");
    }
  }
  ~Turn() { taken_.clear(std::memory_order_release); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

private:
  std::atomic_flag& taken_;
};

class Connection {
public:
  Connection(const std::string& host, int port, double timeout_s, const std::string& path)
      : client_(host, std::to_string(port), nanoseconds(timeout_s), path) {
    client_.connect();
  }

  std::pair<unsigned, std::size_t> get() {
    const Turn turn(taken_);
    const http_beast::Answer answer = client_.get();
    return {answer.status, answer.length_bytes};
  }

  void close() {
    const Turn turn(taken_);
    client_.close();
  }

private:
  // The kernel counts a timeout in microseconds, and takes 0 for none.
  static std::chrono::nanoseconds nanoseconds(double seconds) {
    if (!(seconds >= kLeastTimeoutS && seconds <= kMostTimeoutS)) {
      throw std::invalid_argument("timeout_s is " + std::to_string(seconds) +
                                  "; it must be a number of seconds from 0.000001 to 1000000");
    }
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
  }

  http_beast::Client client_;
  std::atomic_flag taken_ = ATOMIC_FLAG_INIT;
};

// Failed becomes the Python exception *failed_type* with the arguments (code, text).
void translate(const std::exception_ptr& thrown, void* failed_type) {
  try {
    std::rethrow_exception(thrown);
  } catch (const http_beast::Failed& failed) {
    const nb::tuple arguments = nb::make_tuple(failed.code(), failed.what());
    PyErr_SetObject(static_cast<PyObject*>(failed_type), arguments.ptr());
  }
}

}  // namespace

NB_MODULE(BEAST_MODULE, module) {
  using namespace nb::literals;
  module.attr("RELEASES_GIL") = BEAST_RELEASES_GIL;
  const nb::object failed = nb::exception<http_beast::Failed>(module, "Failed");
  failed.attr("__doc__") =
      "No usable answer came. args: code (connect, closed, reset, timeout, garbled or extra), and a text.";
  nb::register_exception_translator(translate, failed.ptr());
  nb::class_<Connection>(module, "Connection", "One keep-alive connection. Each thread needs its own.")
      .def(nb::init<const std::string&, int, double, const std::string&>(), "host"_a, "port"_a, "timeout_s"_a,
           "path"_a = "/", nb::call_guard<Gil>(),
           "Connect; no connect and no answer takes longer than timeout_s. Raises Failed, or ValueError for timeout_s.")
      .def("get", &Connection::get, nb::call_guard<Gil>(),
           "GET path, the whole body read: status and length of the body in bytes. Raises Failed.")
      .def("close", &Connection::close, "Close the connection.");
}
