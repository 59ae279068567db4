"""Figure 1 in one picture, from the stored row: what comes out of product activations against what goes in."""

from __future__ import annotations

from pathlib import Path

from polyladder_lab.experiments.engine.compare import compare
from polyladder_lab.experiments.engine.declare import declared, results_folder
from polyladder_lab.experiments.engine.store import Store
from polyladder_lab.experiments.pages.figures import draw_activations
from polyladder_lab.experiments.pages.page import rows_with


def main() -> None:
    folder = results_folder("figure_1")
    assert folder is not None
    d = declared("figure_1")
    (row,) = rows_with(compare(d, Store(folder).rows(d.name)), "layers")
    drawing = draw_activations(row)
    target = Path(__file__).with_suffix(".png")
    with drawing.style():
        # 4,800 dots are four times as large as an SVG.
        drawing.figure.savefig(target, dpi=130, metadata={"Software": None})
    print(f"Wrote {target}.")


if __name__ == "__main__":
    main()
