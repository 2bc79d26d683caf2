"""What the seed's records of HTTP clients published: an Apple M2's figures, with their faults."""

from core.messages import message, verbatim

# Language, library, then ms: Mean, P99, P999, Max, LMean, Bench. Python's beast holds the GIL in the first table and
# releases it in the second.
HEADS = (
    *(verbatim(head) for head in ("Language", "Library", "Mean(ms)", "P99(ms)", "P999(ms)", "Max(ms)")),
    *(verbatim(head) for head in ("LMean(ms)", "Bench(ms)", "async/sync")),
)
HELD = (
    ("C++", "beast", "0.18", "0.45", "2.56", "2.59", "17.93", "18.46", "sync"),
    ("Rust", "reqwest", "0.17", "0.33", "1.57", "1.57", "16.65", "23.63", "async"),
    ("Python", "requests", "3.28", "10.04", "14.55", "15.34", "328.27", "336.20", "sync"),
    ("Python", "beast", "0.06", "0.09", "5.87", "11.48", "5.64", "39.68", "sync"),
    ("Python", "aiohttp", "0.47", "0.63", "1.36", "1.48", "47.45", "48.34", "async"),
    ("Python", "reqwest", "0.38", "1.06", "2.15", "2.44", "37.94", "40.20", "async"),
)
RELEASED = (
    ("C++", "beast", "0.16", "0.27", "1.45", "1.48", "15.77", "16.23", "sync"),
    ("Rust", "reqwest", "0.14", "0.37", "0.62", "0.64", "13.88", "18.01", "async"),
    ("Python", "requests", "3.07", "6.12", "7.04", "7.95", "307.41", "314.91", "sync"),
    ("Python", "beast", "0.15", "0.28", "0.40", "0.53", "15.54", "16.36", "sync"),
    ("Python", "aiohttp", "0.47", "0.78", "1.37", "1.50", "47.50", "48.49", "async"),
    ("Python", "reqwest", "0.38", "0.90", "1.87", "2.13", "38.35", "40.42", "async"),
)
FAULTS = message(
    "An Apple M2's figures, one run each, 10 workers x 100 requests in a fixed order. There was no warm-up, and the "
    "first request of each client includes its connect: 10 of 1,000 samples, so P999 and Max mostly measure "
    "connecting. The clients differed in whether they read the body."
)
