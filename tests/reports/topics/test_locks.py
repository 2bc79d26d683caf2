"""Whose lock: a sentence, sums and lines for each profile; nothing for other kinds."""

from core.messages import verbatim

FRAMES = [("functools.py", 56, "update_wrapper"), ("functools.py", 60, "wraps"), ("shop/app.py", 31, "view")]
STACK = [dict(zip(("file", "line", "function"), frame, strict=True)) for frame in FRAMES]
PROFILE = {
    "kind": "locks",
    "system": "4",
    "params": {},
    "runtime": "3.14t",
    "sentence": verbatim("a request stops all threads 9.0 times").to_json(),
    "requests": 100,
    "in_flight_ns": 10_000,
    "stops": 900,
    "stopping_ns": 4000,
    "waiting_ns": 2000,
    "count_share": 0.031,
    "stopping": [{"share": 0.4, "lock": {}, "stack": STACK}],
    "contended": [
        {"share": 0.15, "lock": verbatim("a dict").to_json(), "stack": STACK[2:]},
        {"share": 0.5, "lock": verbatim("a list").to_json(), "stack": []},
    ],
}
