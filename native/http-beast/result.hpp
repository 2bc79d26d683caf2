// The result of the client in JSON: docs/child-contract.md, and what the http-clients experiment reads besides.
#pragma once

#include "usage.h"
#include "worker.hpp"
#include <nlohmann/json_fwd.hpp>


// bench_ns: from before the first thread is made until the last is joined. workers_ns: each worker's loop.
// timeline: of each worker's first requests [start, end], ns from the start of the race.
nlohmann::json result(const Workers& workers, const Race& race, const usage& used);
