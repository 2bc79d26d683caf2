"""What load generators printed here, shortened: ab 2.3, wrk 4.1.0 and oha 1.16.0; and what it says."""

AB = """
Concurrency Level:      4
Time taken for tests:   0.111 seconds
Complete requests:      2000
Failed requests:        0
Keep-Alive requests:    2000
Requests per second:    18084.00 [#/sec] (mean)

Percentage of the requests served within a certain time (ms)
  50%      0
  90%      0
  99%      4
 100%     11 (longest request)
"""
AB_REFUSED = """
Time taken for tests:   0.018 seconds
Complete requests:      20
Failed requests:        0
Non-2xx responses:      20
Requests per second:    1113.59 [#/sec] (mean)

Percentage of the requests served within a certain time (ms)
  50%      1
  98%      6
  99%      6
 100%      6 (longest request)
"""
WRK = """Running 1s test @ http://127.0.0.1:25790/
  2 threads and 4 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    56.09ms  123.05ms 509.78ms   85.74%
    Req/Sec    14.53k     6.63k   24.33k    66.67%
  Latency Distribution
     50%   77.00us
     75%    4.64ms
     90%  273.51ms
     99%  472.77ms
  29298 requests in 1.38s, 2.18MB read
Requests/sec:  21265.91
Transfer/sec:      1.58MB
"""
WRK_REFUSED = """Running 1s test @ http://127.0.0.1:25792/
  2 threads and 4 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    55.46ms   55.70ms 332.24ms   92.23%
    Req/Sec    42.90     14.36    70.00     60.00%
  Latency Distribution
     50%   43.99ms
     75%   48.30ms
     90%   91.52ms
     99%    1.28s
  93 requests in 1.08s, 10.85KB read
  Socket errors: connect 0, read 11, write 0, timeout 0
  Non-2xx or 3xx responses: 20
Requests/sec:     86.23
Transfer/sec:     10.06KB
"""
OHA = """{
  "summary": {"successRate": 1.0, "total": 0.291015511, "requestsPerSec": 6872.485913646025},
  "latencyPercentiles": {"p10": 0.000036825, "p50": 0.000046379, "p99": 0.000096864, "p99.9": 0.026470489},
  "statusCodeDistribution": {"200": 2000},
  "errorDistribution": {}
}"""
OHA_REFUSED = """{
  "summary": {"successRate": 0.9, "total": 0.52, "requestsPerSec": 190.0},
  "latencyPercentiles": {"p50": 0.0012, "p99": 0.0031},
  "statusCodeDistribution": {"200": 70, "404": 20},
  "errorDistribution": {"connection closed before message completed": 10}
}"""
OHA_NOTHING = """{
  "summary": {"successRate": 0.0, "total": 0.001, "requestsPerSec": 0.0},
  "latencyPercentiles": {"p50": null, "p99": null},
  "statusCodeDistribution": {},
  "errorDistribution": {"Connection refused (os error 111)": 10}
}"""
# What a generator printed, and what that says: answered, failed, seconds.
PRINTED: list[tuple[str, str, int, int, float]] = [
    ("ab", AB, 2000, 0, 0.111),
    ("ab", AB_REFUSED, 20, 20, 0.018),
    ("wrk", WRK, 29298, 0, 29298 / 21265.91),
    ("wrk", WRK_REFUSED, 93, 31, 93 / 86.23),
    ("oha", OHA, 2000, 0, 0.291015511),
    ("oha", OHA_REFUSED, 90, 30, 0.52),
    ("oha", OHA_NOTHING, 0, 10, 0.001),
]
