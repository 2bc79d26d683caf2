// A stackful coroutine that waits for operations of asio: Boost.Coroutine2, which switches stacks by Boost.Context.
#pragma once

#include <boost/asio.hpp>
#include <boost/coroutine2/coroutine.hpp>

#include <cstddef>
#include <memory>
#include <utility>

class Coroutine : public std::enable_shared_from_this<Coroutine> {
public:
  // Run *body*, which is called with the coroutine. The handlers of *executor* must not run beside one another (a
  // strand): an operation must not end before the coroutine has given the thread back.
  template <class Executor, class Body>
  static void start(const Executor& executor, Body body) {
    auto coroutine = std::make_shared<Coroutine>(std::move(body));
    boost::asio::post(executor, [coroutine] { coroutine->resume_(); });
  }

  // Use start(). Whoever waits for the coroutine owns it: the handler of the operation that is under way.
  template <class Body>
  explicit Coroutine(Body body)
      : resume_([this, body = std::move(body)](Stack::pull_type& leave) mutable {
          leave_ = &leave;
          body(*this);
        }) {}

  // Call *begin* with a handler, and give the thread back until it is called. How many bytes were moved, if any.
  template <class Begin>
  std::size_t wait(boost::system::error_code& failed, Begin begin) {
    begin([self = shared_from_this()](boost::system::error_code failed, std::size_t size_bytes = 0) {
      self->failed_ = failed;
      self->size_bytes_ = size_bytes;
      self->resume_();
    });
    (*leave_)();
    failed = failed_;
    return size_bytes_;
  }

private:
  using Stack = boost::coroutines2::coroutine<void>;

  boost::system::error_code failed_;
  std::size_t size_bytes_ = 0;
  Stack::pull_type* leave_ = nullptr;
  Stack::push_type resume_;
};
