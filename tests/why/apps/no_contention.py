"""Each thread counts for itself: nothing waits for a lock."""

from server import serve


def handle() -> bytes:
    """Count to 5000."""
    count = 0
    while count < 5000:
        count += 1
    return b"ok"


if __name__ == "__main__":
    serve(handle)
