import json

import pytest

from polyladder.experiments.store import Store, provenance


def row(key, value=1.0):
    return {"key": key, "value": value}


def test_rows_come_back_by_key(tmp_path):
    Store(tmp_path / "new").append("t", [row("a"), row("b", 2.0)])
    assert Store(tmp_path / "new").rows("t") == {"a": row("a"), "b": row("b", 2.0)}
    assert Store(tmp_path / "new").rows("other") == {}


def test_a_known_key_is_not_written_again(tmp_path):
    store = Store(tmp_path)
    store.append("t", [row("a", 1.0)])
    store.append("t", [row("a", 5.0), row("b")])
    assert store.path("t").read_text().count("\n") == 2
    assert Store(tmp_path).rows("t")["a"]["value"] == 1.0


@pytest.mark.parametrize("cut", range(1, 20))
def test_a_line_that_was_cut_off_anywhere_is_left_out_and_not_continued(tmp_path, cut):
    Store(tmp_path).append("t", [row("a"), row("b")])
    path = tmp_path / "t.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    store = Store(tmp_path)
    # A row that lost no more than its line's end is whole.
    assert set(store.rows("t")) == ({"a", "b"} if cut == 1 else {"a"})
    store.append("t", [row("b"), row("c")])
    again = Store(tmp_path).rows("t")
    assert set(again) == {"a", "b", "c"}
    assert again["b"] == row("b")


def test_a_number_that_json_does_not_know_is_refused(tmp_path):
    with pytest.raises(ValueError, match="JSON compliant"):
        Store(tmp_path).append("t", [row("a", float("nan"))])
    assert Store(tmp_path).rows("t") == {}


def test_provenance_names_the_versions():
    import torch

    assert f"torch {torch.__version__}" in provenance()["versions"]
    assert json.dumps(provenance())
