"""Sentences in pieces: what is filled in keeps its cells, and the text reads as before."""

from reports.page.pieces import Piece, Sentence, filled, together


def test_what_is_filled_in_keeps_its_cells_and_the_text_reads_as_a_format_string() -> None:
    low = Piece(text="1.2", cells="a b", figure="ratio")
    made = filled("{who} gives from {low} x on.", who="it", low=low)
    assert Sentence(pieces=made).text == "it gives from 1.2 x on."
    assert [one for one in made if one.cells] == [low]


def test_groups_of_several_figures_are_named_once_in_their_order() -> None:
    assert together(["b a", "", "a c"]) == "b a c"
