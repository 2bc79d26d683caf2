"""Bars of text: in eighths of a character where the terminal can show them, else in whole # signs. Pure."""

EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(share: float, width: int, *, unicode: bool = True) -> str:
    """A bar of *share* (0 to 1) of *width* characters, without trailing spaces; something is at least a sliver."""
    share = min(1.0, max(0.0, share))
    if not unicode:
        return "#" * max(round(share * width), int(share > 0))
    eighths = max(round(share * width * 8), int(share > 0))
    whole, rest = divmod(eighths, 8)
    return EIGHTHS[8] * whole + EIGHTHS[rest] * (rest > 0)
