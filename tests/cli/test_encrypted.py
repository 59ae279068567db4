import csv
import io
from pathlib import Path

import numpy as np
import pytest

from polyladder.cli.encrypted import decrypt, encrypt, keys, score
from tests.cli.tables import run, sentence
from tests.export import cells
from tests.export.estimators import fitted


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaps and categories", "two classes"])
def test_the_examples_of_the_help_run_one_after_another(name: str, place: Path) -> None:
    model, rows = fitted(name)
    model.save("houses.ladder")
    rows[:60].to_csv("new.csv", index=False)
    run("export", "houses.ladder", "--to", "recipe")
    told = "\n".join(command.__doc__ or "" for command in (keys, encrypt, score, decrypt))
    lines = [line.strip() for line in told.splitlines() if "polyladder encrypted" in line]
    assert len(lines) == 4
    for line in lines:
        result = run(*line.partition(" > ")[0].split()[1:])
    found = list(csv.DictReader(io.StringIO(result.stdout)))
    if name == "two classes":
        assert [row["prediction"] for row in found] == model.predict(rows[:60]).tolist()
    else:
        low, high = model.target_.guard_range
        predicted = np.array([float(row["prediction"]) for row in found])
        assert np.abs(predicted - model.predict(rows[:60])).max() < 1e-4 * float(high - low)
    assert (place / "secret.key").stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_mistakes_are_sentences(place: Path) -> None:
    (place / "no.recipe").write_text("{}")
    assert "must hold a recipe" in sentence("encrypted", "keys", place / "no.recipe")
    fitted("numbers")[0].save("m.ladder")
    run("export", "m.ladder", "--to", "recipe")
    run("encrypted", "keys", "m.recipe")
    before = (place / "secret.key").read_bytes()
    assert "secret.key exists" in sentence("encrypted", "keys", "m.recipe")
    assert "public.key exists" in sentence("encrypted", "keys", "m.recipe", "--secret", "other.key")
    assert (place / "secret.key").read_bytes() == before
    assert not (place / "other.key").exists()
    (place / "other.csv").write_text("a,b\n1,2\n")
    said = sentence("encrypted", "encrypt", "m.recipe", "secret.key", "other.csv")
    assert "it lacks 'flat (m)', 'often zero', 'signed \"s\"'" in said
    fitted("numbers")[1][:5].to_csv("rows.csv", index=False)
    said = sentence("encrypted", "encrypt", "m.recipe", "public.key", "rows.csv")
    assert said == "The file must hold a secret key; it holds a public key."
    run("encrypted", "encrypt", "m.recipe", "secret.key", "rows.csv")
    fitted("two outputs")[0].save("n.ladder")
    said = sentence("encrypted", "score", "n.ladder", "public.key", "rows.encrypted")
    assert said.startswith("The rows must belong to model ")
    said = sentence("encrypted", "decrypt", "m.recipe", "secret.key", "rows.encrypted")
    assert said == "The file must hold encrypted scores; it holds encrypted rows."


@pytest.mark.slow
def test_cells_are_read_as_predict_reads_them(place: Path) -> None:
    from polyladder.cli.encrypted import read_recipe, table_rows

    model = cells.models()["small"]
    model.save("m.ladder")
    run("export", "m.ladder", "--to", "recipe")
    cells.rows(fixed=False).write_csv("new.csv", quote_style="always")
    recipe = read_recipe(Path("m.recipe"))
    found = model.model_.predict(table_rows(recipe, "new.csv"))
    assert cells.error(found.reshape(-1, 1), cells.predicted("small", fixed=False)) < 1e-12
