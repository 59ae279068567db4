import dataclasses

from polyladder_lab.experiments.engine.compare import compare
from polyladder_lab.experiments.pages.claims import claim_lines, depth_lines, explosion_lines, explosions
from tests.lab.experiments.small import filled, small


def with_fields(d, **fields):
    """The small table with more fields in the rows of its last fits."""
    return {key: row | fields if "value" in row else row for key, row in filled(d).items()}


def test_runs_that_diverged_or_ended_far_above_the_usual_are_counted():
    d = dataclasses.replace(small(), name="claim_stability")
    # Usual errors are 1, 2 and 3 on the three splits; two runs of LPNN end above six, one of FM diverged.
    rows = filled(d, lambda model, split: 1.0 + split + (10.0 if model == 2 and split else 0.0))
    comparison = compare(d, rows)
    next(iter(comparison.cells["diabetes", "FM"].rows.values()))["diverged"] = True
    assert explosions(comparison) == {("diabetes", "FFR"): 0, ("diabetes", "FM"): 1, ("diabetes", "LPNN"): 2}
    assert explosion_lines(comparison)[-1] == "| LPNN | 2 of 3 | 2 of 3 |"
    assert "3 times the lowest median" in claim_lines(comparison)[1]


def test_a_run_without_a_finite_error_has_exploded():
    d = small()
    rows = filled(d, lambda model, split: None if model == 2 else 1.0)
    assert explosions(compare(d, rows))["diabetes", "LPNN"] == 3


def test_depths_are_averaged_over_splits():
    depths = [{"layers": 1, "train": 2.0, "test": 3.0, "changed": 0.0}]
    worse = [{"layers": 1, "train": 4.0, "test": 6.0, "changed": 1e-16}]
    assert depth_lines([{"depths": depths}, {"depths": worse}])[-1] == "| 1 | 3.00 | 4.50 | 1e-16 |"
    d = small()
    lines = claim_lines(compare(d, with_fields(d, depths=depths)))
    assert "Errors by depth, FM on diabetes, mean over splits:" in lines


def test_bounds_are_shown_in_multiples_of_what_was_found():
    names = {f"{name}_{kind}": value for name in ("output", "gradient") for kind, value in FOUND.items()}
    d = small()
    assert claim_lines(compare(d, with_fields(d, bounds=names)))[-1] == "| diabetes | 2 | 10 | 1.5 | 2 | 10 | 1.5 |"


FOUND = {"found": 2.0, "paper": 20.0, "local": 3.0}


def test_norms_are_geometric_means_over_layers_and_products_of_all():
    d = small()
    found = {"W": [2.0, 8.0], "V": [1.0, 4.0], "trained_W": [3.0, 3.0], "readout": [0.5]}
    lines = claim_lines(compare(d, with_fields(d, norms=found)))
    said = {tuple(line.split(" | ")[:2]): line.split(" | ")[2].strip(" |") for line in lines[5:]}
    kinds = {"W, batch norm merged": "4", "W, as trained": "3", "V": "2", "readout, batch norm merged": "0.5"}
    kinds["all merged, multiplied"] = "32"
    assert said == {(f"| {kind}", model.name): value for kind, value in kinds.items() for model in d.models}


def test_other_tables_have_no_claims():
    d = small()
    assert claim_lines(compare(d, filled(d))) == []
