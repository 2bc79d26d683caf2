"""Orders of blocks against what a Williams square must have: counted, not worked out by the same code."""

from collections import Counter
from itertools import chain, pairwise

import pytest

from config.orders import block_order
from tests.tables import each_row

SEEDS = range(5)


@each_row
@pytest.mark.parametrize("seed", SEEDS)
def test_each_cell_runs_right_after_each_other_one_equally_often(count: int, blocks: int, seed: int) -> None:
    for first in (1, blocks + 1):
        after = Counter(
            pair for block in range(first, first + blocks) for pair in pairwise(block_order(count, block, seed))
        )
        assert len(after) == count * (count - 1)
        assert set(after.values()) == {blocks // count}


@each_row
def test_a_block_has_every_cell_once_and_the_next_is_its_mirror_image_so_that_drift_cancels(count: int) -> None:
    for block in range(1, 20, 2):
        order = block_order(count, block, 3)
        assert sorted(order) == list(range(count))
        assert order == block_order(count, block + 1, 3)[::-1]


@pytest.mark.parametrize("seed", SEEDS)
def test_when_all_rows_have_been_used_the_next_block_begins_with_the_last_cell(seed: int) -> None:
    for count, blocks in ((4, 4), (5, 10), (2, 2)):
        for turn in (1, 2, 3):
            assert block_order(count, turn * blocks, seed)[-1] == block_order(count, turn * blocks + 1, seed)[0]


def test_the_order_depends_on_the_seed_alone() -> None:
    assert block_order(6, 5, 1) == block_order(6, 5, 1)
    assert len({tuple(chain(*(block_order(6, block, seed) for block in range(1, 7)))) for seed in range(20)}) == 20
