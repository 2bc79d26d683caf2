"""What a peer or a child may make us hold, read or wait for. The Rust side is native/loadgen/src/limits.rs.

Each limit is far above what a working peer needs: it is there so that a broken or hostile one costs an error.
Listed for people in docs/child-contract.md.
"""

KIB, MIB = 1 << 10, 1 << 20

# ---- answers of services --------------------------------------------------------------------------------------------
MAX_HEAD_BYTES = 64 * KIB
MAX_INTERIM = 16  # responses with 1xx before the one that answers
MAX_CHUNK_LINE_BYTES = 16 * KIB  # the line with a chunk's size; and all trailers together
MAX_ANSWER_BYTES = 1 * MIB  # of the answers to /calc, which are kept until they are checked
MAX_BODY_BYTES = 32 * MIB  # of a user's service
STATUSES = range(100, 600)

# ---- lines and output of children -----------------------------------------------------------------------------------
MAX_LINE_BYTES = 16 * MIB  # what a child has written and nobody has asked for yet, the line that is read included
OUTPUT_HEAD_BYTES = 64 * KIB  # of what a child writes to stderr, its beginning
OUTPUT_TAIL_BYTES = 1 * MIB  # and its newest part
