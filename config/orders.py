"""In which order a block runs its cells: random, and balanced for what ran before. Pure.

Source: Williams (1949), Experimental designs balanced for the estimation of residual effects of treatments.
"""

from random import Random


def block_order(count: int, block: int, seed: int) -> list[int]:
    """Places of *count* cells in the order in which *block* (from 1) runs them.

    A row of a Williams square, then the same backwards; then another row. In all rows each cell comes right after each
    other one equally often; backwards, what drifts cancels, and the first cell of a block comes right after itself.
    Which cell is which of the square is drawn anew when all rows have been used, but for the one that comes next.
    """
    if count < 2:
        return list(range(count))
    rows = count // 2 if count % 2 == 0 else count  # an even square has each row's reverse among its rows
    turn, place = divmod(block - 1, 2 * rows)
    chance = Random(f"{seed} {turn}")
    order = chance.sample(range(rows), rows)
    cells = _cells(count, turn, seed, (order[0], order[-1]), chance)
    row = [cells[(step + order[place // 2]) % count] for step in _zigzag(count)]
    return row if place % 2 == 0 else row[::-1]


def _zigzag(count: int) -> list[int]:
    """0, 1, -1, 2, -2, ...: all differences between neighbours are different."""
    return [(step + 1) // 2 if step % 2 else -step // 2 for step in range(count)]


def _cells(count: int, turn: int, seed: int, ends: tuple[int, int], chance: Random) -> list[int]:
    """Which cell each label of the square is. ends: labels that the turn begins and ends with."""
    heads = Random(seed).sample(range(count), count)  # each turn begins with the cell that the one before ended with
    fixed = {ends[0]: heads[0]}
    if ends[0] != ends[1]:
        fixed = {ends[0]: heads[turn % count], ends[1]: heads[(turn + 1) % count]}
    others = iter(chance.sample([cell for cell in range(count) if cell not in fixed.values()], count - len(fixed)))
    return [fixed[label] if label in fixed else next(others) for label in range(count)]
