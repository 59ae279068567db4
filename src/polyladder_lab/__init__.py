"""The laboratory of polyladder: named data sets, and the paper's tables and figures, measured again.

It uses public names of polyladder only, as any program of a user does.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyladder_lab.datasets.catalog import Entry as Entry
    from polyladder_lab.datasets.catalog import catalog as catalog
    from polyladder_lab.datasets.catalog import find_entry as find_entry
    from polyladder_lab.datasets.dataset import Dataset as Dataset
    from polyladder_lab.datasets.dataset import load_dataset as load_dataset
    from polyladder_lab.datasets.splits import Split as Split
    from polyladder_lab.datasets.splits import seeded_splits as seeded_splits
    from polyladder_lab.experiments.engine.compare import Comparison as Comparison
    from polyladder_lab.experiments.engine.compare import compare as compare
    from polyladder_lab.experiments.engine.compare import paired_p as paired_p
    from polyladder_lab.experiments.engine.declare import Declaration as Declaration
    from polyladder_lab.experiments.engine.declare import declared as declared
    from polyladder_lab.experiments.engine.run import run as run
    from polyladder_lab.experiments.engine.store import Store as Store
    from polyladder_lab.experiments.pages.page import html_page as html_page
    from polyladder_lab.experiments.pages.page import markdown_section as markdown_section

# Names resolve on first use, so that `polyladder --help` does not pay for torch.
_HOME = {
    "Comparison": "experiments.engine.compare",
    "Dataset": "datasets.dataset",
    "Declaration": "experiments.engine.declare",
    "Entry": "datasets.catalog",
    "Split": "datasets.splits",
    "Store": "experiments.engine.store",
    "catalog": "datasets.catalog",
    "compare": "experiments.engine.compare",
    "declared": "experiments.engine.declare",
    "find_entry": "datasets.catalog",
    "html_page": "experiments.pages.page",
    "load_dataset": "datasets.dataset",
    "markdown_section": "experiments.pages.page",
    "paired_p": "experiments.engine.compare",
    "run": "experiments.engine.run",
    "seeded_splits": "datasets.splits",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'polyladder_lab' has no attribute {name!r}")
    value = getattr(import_module(f"polyladder_lab.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
