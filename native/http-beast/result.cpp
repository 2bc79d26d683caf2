#include "result.hpp"

#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;

json to_json(const Histogram& histogram) {
  json counts = json::object();
  for (std::size_t bucket = 0; bucket < histogram.counts().size(); ++bucket)
    if (histogram.counts()[bucket] != 0) counts[std::to_string(bucket)] = histogram.counts()[bucket];
  json summary = {{"count", histogram.count()},
                  {"histogram",
                   {{"sub_bits", Histogram::kSubBits}, {"total_ns", histogram.total_ns()}, {"counts", counts}}}};
  if (histogram.count() == 0) return summary;
  summary["min_ns"] = histogram.min_ns();
  summary["mean_ns"] = histogram.total_ns() / histogram.count();
  summary["max_ns"] = histogram.max_ns();
  return summary;
}

Tally sum(const Workers& workers) {
  Tally total;
  for (const Worker& worker : workers) {
    const Tally& tally = worker.tally();
    total.sent += tally.sent;
    total.answered += tally.answered;
    total.wrong += tally.wrong;
    total.run_queue_ns += tally.run_queue_ns;
    for (const auto& [code, times] : tally.errors) total.errors[code] += times;
    total.latency.merge(tally.latency);
    total.connect.merge(tally.connect);
  }
  return total;
}

json timeline(const Tally& tally, std::int64_t started_ns) {
  json requests = json::array();
  for (const auto& [start_ns, end_ns] : tally.timeline)
    requests.push_back({start_ns - started_ns, end_ns - started_ns});
  return requests;
}

}  // namespace

json result(const Workers& workers, const Race& race, const usage& used) {
  const Tally total = sum(workers);
  json loops = json::array(), timelines = json::array();
  for (const Worker& worker : workers) {
    loops.push_back(worker.tally().loop_ns);
    timelines.push_back(timeline(worker.tally(), race.started_ns));
  }
  const std::int64_t bench_ns = race.finished_ns - race.started_ns;
  return {{"started_ns", race.started_ns},
          {"finished_ns", race.finished_ns},
          {"completion_ns", bench_ns},
          {"bench_ns", bench_ns},
          {"requests", total.sent},
          {"answered", total.answered},
          {"wrong", total.wrong},
          {"errors", total.errors},
          {"latency", to_json(total.latency)},
          {"connect", to_json(total.connect)},
          {"worker", "thread"},
          {"workers_ns", loops},
          {"timeline", timelines},
          {"cpu_user_ns", used.cpu_user_ns},
          {"cpu_system_ns", used.cpu_system_ns},
          {"voluntary_switches", used.voluntary_switches},
          {"involuntary_switches", used.involuntary_switches},
          {"run_queue_ns", total.run_queue_ns},  // the threads have ended, so used does not have theirs
          {"max_rss_bytes", used.max_rss_bytes},
          {"pss_bytes", used.pss_bytes},
          {"gil_enabled_ready", false},
          {"gil_enabled_end", false}};
}
