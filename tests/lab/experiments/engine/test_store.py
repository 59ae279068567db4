import json
import re
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

from polyladder_lab.experiments.engine.declare import declared, names, results_folder
from polyladder_lab.experiments.engine.scores import packed
from polyladder_lab.experiments.engine.store import Store, provenance


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
    if cut == 1:
        assert set(store.rows("t")) == {"a", "b"}
    else:
        with pytest.warns(UserWarning, match=r"t\.jsonl ends in half a line, as a killed run leaves it"):
            assert set(store.rows("t")) == {"a"}
    store.append("t", [row("b"), row("c")])
    assert path.read_bytes().startswith(whole[:-cut])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        again = Store(tmp_path).rows("t")
    assert [str(w.message).split(":")[0].rpartition(" ")[2] for w in said] == ([] if cut == 1 else ["2"])
    assert set(again) == {"a", "b", "c"}
    assert again["b"] == row("b")


WRONG = packed(np.array([True, False, True]))
UNIT = {"unit": 1, "u": [1.0, 2.0], "h": [1.0, 2.0]}
DISTRIBUTION = {
    "input": 1,
    "variance": 0.1,
    "ks": 0.1,
    "skewness": 0.0,
    "kurtosis": 0.0,
    "outside": 3,
    "histogram": [1, 2],
}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"key":"x","value":1', "must be JSON; got Expecting"),
        (b'{"key":7,"value":1}', "must have a text 'key'"),
    ],
)
def test_a_line_that_is_no_row_is_named_with_its_reason_and_the_others_count(tmp_path, line, reason):
    first, last = (json.dumps(row(key)).encode() for key in "ac")
    (tmp_path / "t.jsonl").write_bytes(b"\n".join([first, line, last, b""]))
    with pytest.warns(UserWarning, match=re.escape(reason)) as said:
        found = Store(tmp_path).rows("t")
    assert found == {"a": row("a"), "c": row("c")}
    assert [str(w.message).startswith(f"{tmp_path / 't.jsonl'}, line 2: ") for w in said] == [True]


def test_whatever_a_run_stores_is_read_again(tmp_path):
    rows = [
        row("a", None),
        {"key": "b", "folds": [1.0, None]},
        row("c", 0.5) | {"rows": 3, "wrong": WRONG},
        row("d") | {"model": "m", "layers": [[UNIT]], "distributions": [DISTRIBUTION], "anything": {"else": []}},
    ]
    Store(tmp_path).append("t", rows)
    assert list(Store(tmp_path).rows("t").values()) == rows


@pytest.mark.parametrize("folder", ["paper", "benchmarks"])
def test_every_committed_row_is_read(folder):
    results = Path(__file__).parents[4] / folder / "results"
    # Beside the stores of declared tables lie results of single benchmarks, in their own form.
    declared = [path for path in results.glob("*.jsonl") if (results.parent / f"{path.stem}.toml").exists()]
    assert declared
    for path in declared:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert len(Store(results).rows(path.stem)) == path.read_bytes().count(b"\n")


def test_a_number_that_json_does_not_know_is_refused(tmp_path):
    with pytest.raises(ValueError, match="JSON compliant"):
        Store(tmp_path).append("t", [row("a", float("nan"))])
    assert Store(tmp_path).rows("t") == {}


def test_provenance_names_the_versions():
    import torch

    assert f"torch {torch.__version__}" in provenance()["versions"]
    assert json.dumps(provenance())


ROOT = Path(__file__).parents[4]


def git(*arguments):
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


@pytest.mark.slow
def test_every_row_was_measured_by_a_commit_of_this_repository_or_is_said_to_be_lost():
    if git("rev-parse", "--is-shallow-repository") != "false":
        pytest.skip("no whole git history: whether the commits of stored rows are in it was not checked")
    history = {commit[:12] for commit in git("rev-list", "HEAD").split()}
    benchmarks = sorted(str(path) for path in (ROOT / "benchmarks").glob("*.toml"))
    for name in [*names(), *benchmarks]:
        d = declared(name)
        commits = {row["commit"][:12] for row in Store(results_folder(name)).rows(d.name).values()}
        assert commits - history == set(d.lost_commits), f"{d.name}: lost_commits must name what git log lacks"
