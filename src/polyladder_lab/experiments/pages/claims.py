"""What was measured of the paper's claims in words: errors by depth, bounds, norms, explosions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import geometric_mean, mean, median

from polyladder_lab.experiments.engine.compare import Cell, Comparison
from polyladder_lab.experiments.engine.rows import Row
from polyladder_lab.experiments.pages.render import Place, number

EXPLODED = 3.0
"""A run counts as exploded if its test error is more than this many times the lowest median of its column."""


def claim_lines(comparison: Comparison) -> list[str]:
    """The tables of a claim, each below a line that says what it shows; empty where nothing was measured."""
    lines: list[str] = []
    held = {place: list(cell.rows.values()) for place, cell in comparison.cells.items() if cell.rows}
    if any("depths" in row for rows in held.values() for row in rows):
        for place, rows in held.items():
            lines += ["", f"Errors by depth, {place[1]} on {place[0]}, mean over splits:", "", *depth_lines(rows)]
    if any("bounds" in row for rows in held.values() for row in rows):
        lines += ["", "Largest values found and bounds divided by them, medians over splits:", "", *bound_lines(held)]
    if any("norms" in row for rows in held.values() for row in rows):
        lines += ["", "Spectral norms, geometric means over layers and splits:", "", *norm_lines(comparison)]
    if comparison.declaration.name == "claim_stability" and held:
        lines += ["", f"Runs that diverged or ended above {EXPLODED:g} times the lowest median of their column:", ""]
        lines += explosion_lines(comparison)
    return lines


def depth_lines(rows: Sequence[Row]) -> list[str]:
    """Training and test errors of a ladder that grows, and what the added layer alone changed."""
    lines = ["| layers | training RMSE | test RMSE | largest change by the new layer itself |", "|---|---|---|---|"]
    for step in zip(*(row["depths"] for row in rows), strict=True):
        train, test = (number(mean(each[name] for each in step), "rmse") for name in ("train", "test"))
        lines.append(f"| {step[0]['layers']} | {train} | {test} | {max(each['changed'] for each in step):.1g} |")
    return lines


def bound_lines(held: Mapping[Place, Sequence[Row]]) -> list[str]:
    """For each depth the largest output and gradient that were found, and how far the bounds lie above them."""
    lines = [
        "| | largest output | eq. (16) | local | largest gradient | eq. (17) | local |",
        "|---|---|---|---|---|---|---|",
    ]
    for (column, _), rows in held.items():
        cells = []
        for name in ("output", "gradient"):
            bounds = [row["bounds"] for row in rows]
            cells.append(f"{median(each[f'{name}_found'] for each in bounds):.3g}")
            for method in ("paper", "local"):
                ratios = [each[f"{name}_{method}"] / each[f"{name}_found"] for each in bounds]
                cells.append(f"{median(ratios):.3g}")
        lines.append(f"| {column} | " + " | ".join(cells) + " |")
    return lines


NORMS = {
    "W, batch norm merged": "W",
    "W, as trained": "trained_W",
    "V": "V",
    "readout, batch norm merged": "readout",
    "all merged, multiplied": "",
}
"""Matrices and their names in stored rows; the last is the product of the merged W, V and readout."""


def norm_lines(comparison: Comparison) -> list[str]:
    """For each kind of matrix and each model the norm at each depth."""
    d = comparison.declaration
    labels = [column.label for column in d.columns]
    lines = ["| matrices | model | " + " | ".join(labels) + " |", "|---" * (len(labels) + 2) + "|"]
    for kind in NORMS:
        for model in d.models:
            shown = []
            for label in labels:
                rows = [row for row in comparison.cells[label, model.name].rows.values() if "norms" in row]
                shown.append(f"{geometric_mean(norm_of(row, kind) for row in rows):.3g}" if rows else "")
            lines.append(f"| {kind} | {model.name} | " + " | ".join(shown) + " |")
    return lines


def norm_of(row: Row, kind: str) -> float:
    """The geometric mean over layers for a kind of `NORMS`; for the last kind the product of all matrices' norms."""
    norms = row["norms"]
    if name := NORMS[kind]:
        return geometric_mean(norms[name])
    return math.prod([*norms["W"], *norms["V"], *norms["readout"]])


def explosion_lines(comparison: Comparison) -> list[str]:
    """For each model and column how many runs exploded."""
    d = comparison.declaration
    labels = [column.label for column in d.columns]
    lines = ["| exploded | " + " | ".join(labels) + " | all |", "|---" * (len(labels) + 2) + "|"]
    found = explosions(comparison)
    for model in d.models:
        counts = [found[label, model.name] for label in labels]
        runs = [len(comparison.cells[label, model.name].values) for label in labels]
        cells = [f"{count} of {n}" for count, n in zip([*counts, sum(counts)], [*runs, sum(runs)], strict=True)]
        lines.append(f"| {model.name} | " + " | ".join(cells) + " |")
    return lines


def explosions(comparison: Comparison) -> dict[Place, int]:
    """How many runs of each cell diverged, or ended far above what the column's best model usually reaches."""
    counts: dict[Place, int] = {}
    for column in comparison.declaration.columns:
        cells = {place: cell for place, cell in comparison.cells.items() if place[0] == column.label and cell.values}
        usual = min((median(cell.values.values()) for cell in cells.values()), default=math.nan)
        counts |= {place: sum(exploded(cell, split, usual) for split in cell.values) for place, cell in cells.items()}
    return counts


def exploded(cell: Cell, split: int, usual: float) -> bool:
    """Whether a run diverged, or its error is far above the usual."""
    return bool(cell.rows[split].get("diverged")) or not cell.values[split] <= EXPLODED * usual
