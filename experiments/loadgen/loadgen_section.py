"""The report's section for the experiment loadgen: gilscope's load generator compared
with others.

reports/sections/__init__.py finds this module by its name, and calls section() for each report of
such a plan. What it shows comes from the View and from analysis/. Only the orchestrator imports it.
"""

from dataclasses import replace

from core.messages import message
from reports.document import Section
from reports.parts import contest as shared
from reports.view import View

PLACE = 12  # in the order of sections (reports/sections/__init__.py)
VIEW = "loadgen"  # the plan that has this section, by its key `view`
OWN = "load-own"  # the system to which ratios refer
SEED = message(
    "The published experiment that gilscope repeats compared gurl with kept connections to ab "
    "without `-k`, which opens a connection for every request. It measured 129,741 requests/s for "
    "gurl and 30,030 for ab: 4.3x. In gilscope's results, KEEP_ALIVE says whether connections are "
    "kept."
)
HOW = message(
    "Requests/s and CPU time are medians over the blocks. Ratios compare a generator with "
    "gilscope's, paired by block, with 95 % intervals, so they may differ from the ratio of the "
    "medians. Each generator reports its own requests/s. CPU time is from the operating system, "
    "for the whole process. wrk accepts a duration, but no number of requests. gilscope computes "
    "the duration from wrk's rate in the warm-up."
)
RANKING = shared.Ranking(
    title=message("Load generators"),
    name=message("load generator"),
    # a metric (analysis/metrics.py) and its rank: if the table is too wide, the highest goes first
    columns=[
        ("requests_per_s", 0),
        ("client_cpu_ns_per_request", 2),
        shared.ratio_col(
            message("requests/s: this load generator / gilscope's generator"),
            message("requests/s ratio"),
            [OWN],
        ),
    ],
    caption=HOW,
)


def section(view: View) -> Section:
    """Return the section: rankings of the generators, with kept connections and with new
    connections.
    """
    ranked = shared.contests(view.rows, view.titles, reference=[OWN])
    made = shared.ranking_section(RANKING, ranked, view)
    seed = Section(
        key="seed-figures",
        title=message(
            "Figures of the published experiment that gilscope repeats, from another machine"
        ),
        sentences=(SEED,),
    )
    return replace(made, parts=(*made.parts, seed))
