// The version of Boost, in words: 1.74.0.
#pragma once

#include <boost/version.hpp>

#include <string>

inline const char* boost_version() {
  static const std::string text = std::to_string(BOOST_VERSION / 100000) + "." +
                                  std::to_string(BOOST_VERSION / 100 % 1000) + "." +
                                  std::to_string(BOOST_VERSION % 100);
  return text.c_str();
}
