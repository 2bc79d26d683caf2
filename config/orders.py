"""Choose a random order of the cells in each block, balanced for carry-over effects from the
previous cell.

Source: Williams (1949), Experimental designs balanced for the estimation of residual effects of
    treatments.

Plan.block() (config/run_plan.py) orders the cells of a block with it, and lab/run/measure.py the
arms of a cell and their time slices. The order must depend on the arguments alone, because a
resumed run calls it again with the saved seed.
"""

from random import Random


def block_order(count: int, block: int, seed: int) -> list[int]:
    """Return the order of *count* measurements (cells) in round number *block* (from 1), as a list
    of their indexes.

    Blocks use the rows of a Williams square. Each row is followed by the same row backwards, then
    by another row. Over all rows, each cell follows every other cell equally often. The reversed
    rows cancel linear drift, and the first cell of a reversed row follows itself. After all rows
    have been used, cells are assigned to the labels of the square again at random. Only the cell at
    the boundary keeps its place.
    """
    if count < 2:
        return list(range(count))
    rows = (
        count // 2 if count % 2 == 0 else count
    )  # if count is even, the square contains the reverse of each row
    # turn: how many times all rows were used before; place: this block's number in the turn, from 0
    turn, place = divmod(block - 1, 2 * rows)
    chance = Random(f"{seed} {turn}")
    order = chance.sample(range(rows), rows)
    cells = _cells(count, turn, seed, (order[0], order[-1]), chance)
    row = [cells[(step + order[place // 2]) % count] for step in _zigzag(count)]
    return row if place % 2 == 0 else row[::-1]


def _zigzag(count: int) -> list[int]:
    """Return the sequence 0, 1, -1, 2, -2, ..., whose consecutive differences are all different."""
    return [(step + 1) // 2 * (-1) ** (step + 1) for step in range(count)]


def _cells(count: int, turn: int, seed: int, ends: tuple[int, int], chance: Random) -> list[int]:
    """Return the index of the measurement that each number in the table of orders (Williams square)
    stands for.

    ends: the labels of the first and of the last cell of the turn
    chance: the random numbers of the turn, which this function goes on drawing from
    """
    heads = Random(seed).sample(
        range(count), count
    )  # each turn begins with the last cell of the previous turn
    fixed = {ends[0]: heads[0]}
    if ends[0] != ends[1]:
        fixed = {ends[0]: heads[turn % count], ends[1]: heads[(turn + 1) % count]}
    others = chance.sample(
        [cell for cell in range(count) if cell not in fixed.values()], count - len(fixed)
    )
    free = [label for label in range(count) if label not in fixed]
    cells = fixed | dict(zip(free, others, strict=True))
    return [cells[label] for label in range(count)]
