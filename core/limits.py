"""Limits on data from services and children. A test holds the copy in native/loadgen/src/limits.rs
to this module.

Each limit is far above what a working peer needs. A broken or hostile peer exceeds it and causes an
error, not a crash. docs/child-contract.md lists the limits, which the same test checks.

clients/ and native/loadgen apply the limits on answers, lab/ the limits on children. Measured
processes import this module.
"""

KIB, MIB = 1 << 10, 1 << 20

# ---- answers of services -------------------------------------------------------------------------
MAX_HEAD_BYTES = 64 * KIB
MAX_HEADERS = 96  # lines of a head after the status line
MAX_INTERIM = 16  # responses with status 1xx before the final response
MAX_CHUNK_LINE_BYTES = 16 * KIB  # for a line with a chunk's size, and for all trailers together
MAX_FRAMING_BYTES = (
    8 * MIB
)  # of an answer besides its body's content: chunk sizes, trailers, frames of HTTP/2
MAX_ANSWER_BYTES = 1 * MIB  # for an answer to /calc, which is kept until it is checked
MAX_BODY_BYTES = 32 * MIB  # for an answer of a user's service
# names of requests in a plan, above which the requests are not counted by name
MAX_ROUTES = 256
STATUSES = range(100, 600)  # the statuses of HTTP that a client accepts
# after this status a connection speaks another protocol, such as WebSocket: the client closes it
SWITCHING = 101

# ---- lines and output of children ----------------------------------------------------------------
MAX_LINE_BYTES = (
    16 * MIB
)  # output of a child that the orchestrator has not consumed yet, with the current line
OUTPUT_HEAD_BYTES = 64 * KIB  # how much is kept of the beginning of a child's stderr
OUTPUT_TAIL_BYTES = 1 * MIB  # how much is kept of the end of a child's stderr
