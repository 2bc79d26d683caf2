"""What the verdicts rest on, in words: blocks, order, noise, clients, and what cannot be told apart."""

from collections.abc import Sequence

from core.messages import Message, message, plural, verbatim
from core.method import SAME
from core.placement import FEWEST_TO_PIN, placement
from reports.document.model import traced
from reports.document.values import percent
from reports.facts.cells import runtimes
from reports.facts.commands import command_line
from reports.facts.comparisons import is_anytime
from reports.facts.inside import design_of, design_words, typical_noise
from reports.facts.steps import not_separated, steps
from reports.facts.traces import of_cells
from reports.view import View

WORTH_FINDING = 0.05


def rests_on(view: View) -> list[Message]:
    """Blocks, order, the noise floor, the client, and what cannot be told apart; each with all cells."""
    cells = of_cells(view.run.cells)
    blocks = plural("{count} block", "{count} blocks", count=len({cell.block for cell in view.run.cells}))
    order = message("{blocks}, cells in balanced random order (seed {seed}).", blocks=blocks, seed=view.run.seed)
    noise = (*_noise_words(view), *scatter(view))
    lines = (order, *_looks(view), *noise, _client_words(view), *_placement(view), *mixed(view))
    return [traced(line, cells) for line in lines]


def _looks(view: View) -> list[Message]:
    """That the number of blocks was not settled beforehand, where it was not."""
    if not is_anytime(view.run):
        return []
    return [
        message(
            "The number of blocks depends on what the first ones showed. Verdicts allow for that, as for a look after "
            "every block; intervals do not, and are a little too narrow."
        )
    ]


def _noise_words(view: View) -> list[Message]:
    noise = floors(view)
    if noise:
        return [message("Noise floor (the same runtime twice): {floor}.", floor=range_of(noise))]
    if any(comparison.step == "aa" for comparison in view.comparisons):
        return []
    return [message("No A/A arm was measured, so the noise floor is not known: add --aa.")]


def scatter(view: View) -> list[Message]:
    """Where the noise of a typical ratio comes from, and what would find 5 % in spite of it; nothing if not known."""
    noise, design = typical_noise(view.comparisons), design_of(view.run, view.comparisons, WORTH_FINDING)
    if noise is None:
        return []
    parts = message(
        "A ratio scatters by {sd} from block to block (sd): by {between} between processes, which only more blocks "
        "average out, and by {within} within cells of {seconds:.1f} s, which longer ones do too.",
        sd=percent(noise.sd()), between=percent(noise.between), within=percent(noise.within), seconds=noise.seconds,
    )  # fmt: skip
    if design is None or view.plan.view:
        return [parts]
    command = f"{command_line(view.run, '--duration', '--blocks')} {design.flags}"
    return [parts, design_words(design, WORTH_FINDING, command)]


def _client_words(view: View) -> Message:
    client = view.plan.method.client_runtime
    if client == SAME:
        return message("Clients run under the service's runtime, so both sides change: --client-runtime holds them.")
    return message("Clients run under {runtime} in every cell: only the service changes.", runtime=client)


def _placement(view: View) -> list[Message]:
    """What --pin would have made of the run, where its cores allow it."""
    plan, cores = view.plan, view.machine.available_cores
    if cores < FEWEST_TO_PIN or plan.method.is_pinned or plan.layout or plan.user_service or plan.view:
        return []
    return [message("Nothing was pinned on {cores} cores: {advice}.", cores=cores, advice=placement(cores))]


def mixed(view: View) -> list[Message]:
    return not_separated(steps(runtimes(view.run), {}, view.run.runtimes))


def floors(view: View) -> list[float]:
    """The noise floor of each setting that has one."""
    same = [comparison for comparison in view.comparisons if comparison.step == "aa"]
    return [comparison.noise_floor for comparison in same if comparison.noise_floor is not None]


def range_of(shares: Sequence[float]) -> Message:
    least, most = percent(min(shares)), percent(max(shares))
    return verbatim(least) if least == most else message("{least} to {most}", least=least, most=most)
