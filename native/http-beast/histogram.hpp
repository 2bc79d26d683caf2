// Log-bucketed latency histogram, in the layout of core/histogram.py: docs/child-contract.md, "A histogram".
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

// Not locked: one for each worker, merged after join.
class Histogram {
public:
  static constexpr int kSubBits = 7;

  void record(std::int64_t value_ns) {
    const std::int64_t kept_ns = std::clamp<std::int64_t>(value_ns, 0, (std::int64_t{1} << kValueBits) - 1);
    ++counts_[bucket_of(static_cast<std::uint64_t>(kept_ns))];
    ++count_;
    total_ns_ += kept_ns;
    min_ns_ = std::min(min_ns_, kept_ns);
    max_ns_ = std::max(max_ns_, kept_ns);
  }

  void merge(const Histogram& other) {
    for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) counts_[bucket] += other.counts_[bucket];
    count_ += other.count_;
    total_ns_ += other.total_ns_;
    min_ns_ = std::min(min_ns_, other.min_ns_);
    max_ns_ = std::max(max_ns_, other.max_ns_);
  }

  const std::vector<std::int64_t>& counts() const { return counts_; }
  std::int64_t count() const { return count_; }
  std::int64_t total_ns() const { return total_ns_; }
  std::int64_t min_ns() const { return min_ns_; }
  std::int64_t max_ns() const { return max_ns_; }

private:
  static constexpr int kValueBits = 42;
  static constexpr std::uint64_t kExactBelow = std::uint64_t{1} << (kSubBits + 1);

  static std::size_t bucket_of(std::uint64_t value_ns) {
    if (value_ns < kExactBelow) return value_ns;
    const int shift = 64 - __builtin_clzll(value_ns) - (kSubBits + 1);
    return (static_cast<std::size_t>(shift) << kSubBits) + (value_ns >> shift);
  }

  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>((kValueBits - kSubBits + 1) << kSubBits);
  std::int64_t count_ = 0;
  std::int64_t total_ns_ = 0;
  std::int64_t min_ns_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_ns_ = 0;
};
