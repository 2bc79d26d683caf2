"""Show the factors of each throughput ratio (cores used, CPU time per request), and the throughput without clients."""

from collections.abc import Iterable

from core.languages import ENGLISH
from core.messages import SENTENCES, Message, listed, message
from reports.document.model import Datum, Section, traced
from reports.document.shapes import Col, col, table
from reports.document.values import ratio, whole
from reports.facts.comparisons import Comparison
from reports.topics.comparisons import STEP_COL, detail_datum, ends_words, of_settings, ratio_head
from reports.view import View

PLACE = 20
# The sentence of a setting is about the first of these steps that the setting has.
STEPS = ("lock", "jit", "other", "whole", "build", "version", "patch")
FACTORS = {"cores_used": message("Cores used"), "cpu_per_request": message("Requests per CPU second")}
SIDES = {"": message("services and clients"), "service": message("service"), "client": message("client")}
ARMS = {"denominator": message("older runtime [requests/s]"), "numerator": message("newer runtime [requests/s]")}
HOW = {  # whether the capacity of the services was measured
    True: message(
        "The services' throughput was measured while the native clients ran on separate cores and did not use "
        "these cores fully."
    ),
    False: message(
        "The throughput that services could reach without clients on their cores is an estimate: the number of cores "
        "that they can use, divided by the measured CPU time per request. With a GIL, each process can use one core. "
        "Without a GIL, each worker thread can use one core. Use --pin and --client-runtime native to measure the "
        "throughput."
    ),
}


def section(view: View) -> Section:
    """Return the report's section on the factors of throughput ratios: cores used, and requests per CPU second.

    It also says how many requests/s the services could serve without clients on their cores.
    """
    steps = [one for one in view.compared if one.step != "aa"]
    factored = of_settings((one for one in steps if one.factors), view)
    capable = [one for one in steps if one.capacity]
    alone = of_settings(capable, view)
    shown = [min(some, key=lambda one: STEPS.index(one.step)) for _, some in alone]
    parts = [STEP_COL, *(_factor_col(side, name) for side in SIDES for name in FACTORS)]
    rates: list[Col[Comparison]] = [
        STEP_COL,
        *(arm_col for arm in ARMS for arm_col in _arm_cols(arm)),
        col(ratio_head(capable), lambda one: detail_datum(one.capacity, one, "capacity"), ratio),
    ]
    return Section(
        "factors",
        message("How cores used and CPU time explain throughput ratios"),
        sentences=(*(_sentence(one, view) for one in shown), *_how(shown)),
        tables=(
            table(message("Ratios of cores used and of requests per CPU second"), parts, factored),
            table(
                message("Throughput that the services could reach without clients on their cores"),
                rates,
                alone,
                caption=listed(_how(capable), SENTENCES),
            ),
        ),
        notes=(
            message(
                "Throughput = cores used x requests per CPU second, so the throughput ratio of two runtimes is the "
                "product of the ratios of both factors. A ratio above 1 means that more cores were in use, or that a "
                "request took less CPU time. The ratios are paired by block (measured round)."
            ),
            *ends_words(steps),
        ),
    )


def _how(known: Iterable[Comparison]) -> list[Message]:
    """Return notes on whether the throughput of services that share no core with clients was measured or estimated."""
    return [HOW[measured] for measured in dict.fromkeys(one.capacity["measured"] for one in known)]


def _sentence(one: Comparison, view: View) -> Message:
    """Return a sentence on the throughput of services without clients on their cores, under each of two runtimes."""
    before, after = (whole(one.capacity[arm]["requests_per_s"]) for arm in ARMS)
    sentence = message(
        "{setting}: without clients on the same cores, the services could serve {after} requests/s on {numerator} and "
        "{before} requests/s on {denominator}, a ratio of {ratio}.",
        setting=view.settings.short(one),
        after=after,
        before=before,
        numerator=one.numerator,
        denominator=one.denominator,
        ratio=detail_datum(one.capacity, one).text(ENGLISH),
    )
    return traced(sentence, one.trace, "capacity")


def _factor_col(side: str, name: str) -> Col[Comparison]:
    """Return the column with the ratio of cores used or of requests per CPU second, for services, clients or both."""

    def read(one: Comparison) -> Datum:
        factors = one.factors[side] if side else one.factors
        return detail_datum(factors[name], one, f"{name} {side}".strip())

    return col(message("{factor}, {side}", factor=FACTORS[name], side=SIDES[side]), read, ratio)


def _arm_cols(arm: str) -> list[Col[Comparison]]:
    """Return two columns for one runtime: throughput of services that share no core with clients, and their cores."""

    def rate(one: Comparison) -> Datum:
        return detail_datum(one.capacity[arm], one, "capacity", "requests_per_s", whole)

    return [
        col(ARMS[arm], rate, whole),
        col(
            "cores",
            lambda one: one.capacity[arm]["cores"],
            whole,
            "cores of the services",
        ),
    ]
