"""What uv says when it fails, in one line."""


def reason(stderr: str) -> str:
    """uv's account of a failure in one line: the cause, or of a build what failed and the builder's last line."""
    lines = [" ".join(line.split()) for line in stderr.strip().splitlines() if not line.startswith("hint:")]
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error:")]
    causes = [line.removeprefix("cause: ") for line in lines if line.startswith("cause:")]
    last = [line for line in lines if line][-1:]
    if errors and "Failed to build" in errors[0]:
        return f"{errors[0]}: {last[0]}".rstrip(".")
    return (causes[:1] or errors[:1] or last or ["uv gave no reason"])[0].rstrip(".")
