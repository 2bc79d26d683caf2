"""What the seed's echo record published: another machine's figures, with what was wrong with them said beside."""

from reports.words.markdown import markdown_table

# requests/s of three repeats at 1 000 B, then at 10 KiB and at 100 KiB; None where the record has none
PUBLISHED: dict[str, tuple[float | None, ...]] = {
    "libuv": (58389.3, 57869.7, 59218.17, 52713.97, 15188.0),
    "libco": (56991.3, 58162.4, 55945.5, 51199.3, 79.37),
    "python3 + uvloop": (32772.8, 33032.6, 32670.2, 30764.97, 15002.7),
    "boost.asio": (47564.7, 47797.93, 47563.93, 75.1, 75.07),
    "Netty 1 thread": (49414.13, 40733.63, 47547.63, 45917.87, 13389.83),
    "Netty 2 thread": (47560.47, 46726.17, 47474.57, None, None),
}
HEADS = ("server", "1000 B", "1000 B", "1000 B", "10 KiB", "100 KiB")
FAULTS = (
    "One core of a Xeon Gold 6148, one run of 30 s for each figure. The uvloop rows ran with one connection and the "
    "others with three, as requests/s x mean latency shows. Rows near 75 requests/s wait 40 ms for an acknowledgement "
    "(Nagle's algorithm); here TCP_NODELAY is on and every row says so."
)


def seed_table() -> str:
    """Markdown: requests/s as published, and what was wrong."""
    rows = [[name, *(f"{one:,.0f}" if one else "-" for one in figures)] for name, figures in PUBLISHED.items()]
    return "\n\n".join(
        ["## The seed's own figures: another machine's", markdown_table(HEADS, rows, {*HEADS[1:]}), FAULTS]
    )
