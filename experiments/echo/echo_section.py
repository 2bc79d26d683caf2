"""The report's section for the experiment echo: a ranking of echo servers, with the original
experiment's figures.

reports/sections/__init__.py finds this module by its name, and calls section() for each report of
such a plan. What it shows comes from the View and from analysis/. Only the orchestrator imports it.
"""

from dataclasses import replace

from core.messages import message
from reports.document import Section
from reports.parts import contest as shared
from reports.view import View

PLACE = 12  # in the order of sections (reports/sections/__init__.py)
VIEW = "echo"  # the plan that has this section, by its key `view`
# requests/s, rounded, of three repeats at 1 000 B, then at 10 KiB and at 100 KiB; '-' where the
# seed's record has none
PUBLISHED = """
server            1000 B  1000 B  1000 B  10 KiB  100 KiB
libuv             58,389  57,870  59,218  52,714  15,188
libco             56,991  58,162  55,946  51,199  79
python3 + uvloop  32,773  33,033  32,670  30,765  15,003
boost.asio        47,565  47,798  47,564  75      75
Netty 1 thread    49,414  40,734  47,548  45,918  13,390
Netty 2 thread    47,560  46,726  47,475  -       -
"""
FAULTS = message(
    "These figures are from one core of a Xeon Gold 6148, with one run of 30 s each. The published "
    "requests/s x mean latency gives the number of connections: one for uvloop, and three for the "
    "other servers. Some servers have only about 75 requests/s, because each of their requests "
    "waited 40 ms for an acknowledgement (Nagle's algorithm). gilscope measures with TCP_NODELAY "
    "on by default, and shows this setting with every result."
)
RANKING = shared.Ranking(
    title=message("Echo servers"),
    name=message("server"),
    # a metric (analysis/metrics.py) and its rank: if the table is too wide, the highest goes first
    columns=[
        ("requests_per_s", 0),
        ("p50_ns", 6),
        ("p99_ns", 5),
        ("service_cpu_ns_per_request", 7),
        shared.ratio_col(message("ratio to the fastest"), message("vs fastest")),
    ],
)


def section(view: View) -> Section:
    """Return the report section: a ranking of the echo servers at each setting, and the published
    figures.
    """
    made = shared.ranking_section(RANKING, shared.contests(view.rows, view.titles), view)
    title = message(
        "Figures of the published experiment that gilscope repeats, from another machine"
    )
    seed = Section(
        key="seed-figures",
        title=title,
        tables=(shared.published(title, PUBLISHED),),
        notes=(FAULTS,),
    )
    return replace(made, parts=(*made.parts, seed))
