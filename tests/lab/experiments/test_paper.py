from pathlib import Path

import pytest

from polyladder_lab.experiments import paper


def test_a_checkout_reads_its_own_folder() -> None:
    assert paper.paper_folder() == Path(__file__).parents[3] / "paper"


def test_an_installed_package_reads_what_came_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "INSTALLED", tmp_path)
    assert paper.paper_folder() == tmp_path
