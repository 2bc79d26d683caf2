"""The findings of the original experiment that gilscope repeats, and what the comparisons of a run say of them."""

from core.messages import Message, message
from reports.document.model import Section, plain_table, words
from reports.facts.comparisons import DECIDED, Comparison
from reports.seed import CLAIMS, Claim
from reports.topics.comparisons import RATIO, VERDICT, ratio_datum
from reports.view import View

HOLDS = {True: message("yes"), False: message("no")}
NOT_KNOWN = message("not known")


def claims(view: View) -> Section:
    """Return the section on the original experiment's findings, each with the comparisons of this run about it."""
    lines = [
        (claim.what, one.label, ratio_datum(one), words(one.word, state=one.verdict), _holds(claim, one))
        for claim in CLAIMS
        for one in (*view.of_values, *view.compared)
        if _answers(claim, one)
    ]
    heads = (
        message("the original experiment found"), message("compared here"), RATIO, VERDICT, message("does it hold?")
    )  # fmt: skip
    name = message("Findings of the experiment that gilscope repeats, and what this run says of them")
    return Section("findings", message("Findings"), tables=(plain_table(name, heads, lines, kind="seed"),))


def _answers(claim: Claim, one: Comparison) -> bool:
    """Return whether a comparison is about a claim: the same change, or the step from the first runtime to the last."""
    if one.step != ("value" if claim.change else "whole") or one.system != claim.system:
        return False
    has_params = claim.params.items() <= one.params.items()
    return has_params and (not claim.change or one.change == claim.change)


def _holds(claim: Claim, one: Comparison) -> Message:
    return HOLDS[one.verdict == claim.verdict] if one.verdict in DECIDED else NOT_KNOWN
