"""The record of a selection says what won."""

from dataclasses import replace

from polyladder.estimators.selection.found import Candidate, Selection


def selection(*weights: float) -> Selection:
    models = (("constant", 0, 1.0), ("linear", 1, 0.5), ("kernel", 3, 0.3), ("kernel", 3, 0.2))
    candidates = tuple(
        Candidate(name, "standard", order, error, weight)
        for (name, order, error), weight in zip(models, weights, strict=True)
    )
    return Selection("log loss", candidates, 0.2, 100, 5)


def test_the_floor_is_named() -> None:
    assert selection(1.0, 0.0, 0.0, 0.0).floor == "constant"
    assert selection(0.0, 0.0, 0.0, 0.0).floor == "constant"
    assert selection(0.1, 0.9, 0.0, 0.0).floor == "linear"
    assert selection(0.0, 0.5, 0.5, 0.0).floor == ""


def test_the_order_path_holds_the_best_of_each_order() -> None:
    assert selection(0.0, 0.5, 0.5, 0.0).order_path == [(1, 0.5), (3, 0.2)]


def test_the_sentence_lists_what_counts() -> None:
    found = selection(0.0, 0.25, 0.75, 0.0)
    assert found.winner.words == "kernel of order 3, standard features"
    assert "0.75 of kernel of order 3, standard features; 0.25 of linear, standard features." in found.sentence
    assert "4 candidates" in found.sentence
    assert "nothing beyond the mean" in selection(0.0, 0.0, 0.0, 0.0).sentence


def test_candidates_that_are_called_alike_are_said_once() -> None:
    found = selection(0.0, 0.25, 0.41, 0.34)
    assert found.sentence.endswith(": 0.75 of kernel of order 3, standard features; 0.25 of linear, standard features.")
    assert "4 candidates" in found.sentence
    kernel = found.kinds[-1]
    assert (kernel.order, kernel.error, kernel.weight) == (3, 0.2, 0.75)
    assert [each.model for each in found.kinds] == ["constant", "linear", "kernel"]


def test_a_factor_of_the_scores_is_said() -> None:
    found = selection(0.0, 0.25, 0.75, 0.0)
    assert "multiplied" not in found.sentence
    words = " Scores were multiplied by {}: the probabilities of rows left out were {}."
    assert replace(found, factor=0.831).sentence == found.sentence + words.format("0.83", "too sure")
    assert replace(found, factor=1.2).sentence == found.sentence + words.format("1.20", "not sure enough")
