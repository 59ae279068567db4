import numpy as np
import pytest

from polyladder_lab.datasets.dataset import load_dataset
from polyladder_lab.experiments.engine.plan import measurement
from polyladder_lab.experiments.runners.sources import dataset, fits_of, rows_of
from polyladder_lab.experiments.runners.synthetic import ROWS, draw
from tests.lab.experiments.small import CLASSES, TEXT, small

RANDOM = 'splits = { kind = "random", test = 0.3 }'


def last(text, split=0):
    d = small(text)
    return measurement(d, d.columns[0], d.models[0], {}, split, None)


def test_folds_are_a_partition_of_the_training_rows_and_leave_test_rows_alone():
    d = small()
    comparing = measurement(d, d.columns[0], d.models[0], {}, 1, d.selection)
    last = fits_of(measurement(d, d.columns[0], d.models[0], {}, 1, None))[0]
    folds = fits_of(comparing)
    assert len(folds) == 3
    assert sorted(np.concatenate([f.test for f in folds])) == sorted(last.train)
    for f in folds:
        assert sorted([*f.train, *f.test]) == sorted(last.train)
        assert not set(f.train) & set(f.test)
    assert sorted([*last.train, *last.test]) == list(range(442))


def test_a_holdout_keeps_the_shares_of_the_classes():
    text = CLASSES.replace('data = "diabetes"', 'data = "iris"')
    d = small(text.replace("folds = 3", "holdout = 0.2"))
    only = fits_of(measurement(d, d.columns[0], d.models[0], {}, 0, d.selection))
    assert len(only) == 1
    shares = np.bincount(only[0].target[only[0].test]) / len(only[0].test)
    whole = np.concatenate([only[0].train, only[0].test])
    assert shares == pytest.approx(np.bincount(only[0].target[whole]) / len(whole), abs=0.05)


def test_a_holdout_of_numbers_is_a_fifth_of_the_training_rows():
    d = small(TEXT.replace("folds = 3", "holdout = 0.2"))
    held = fits_of(measurement(d, d.columns[0], d.models[0], {}, 0, d.selection))[0]
    last = fits_of(measurement(d, d.columns[0], d.models[0], {}, 0, None))[0]
    assert sorted([*held.train, *held.test]) == sorted(last.train)
    assert len(held.test) == pytest.approx(0.2 * len(last.train), abs=1)


def test_random_splits_differ_and_belong_to_their_number():
    first, again, other = (rows_of(last(TEXT, split)) for split in (0, 0, 1))
    assert np.array_equal(first[3], again[3])
    assert not np.array_equal(first[4], other[4])
    assert len(first[4]) == round(0.3 * 442)
    assert sorted([*first[3], *first[4]]) == list(range(442))
    data = load_dataset("diabetes")
    assert np.array_equal(first[0], data.features)
    assert np.array_equal(first[1], data.target)
    assert first[2] == 0


def test_drawn_data_are_new_in_every_split():
    text = TEXT.replace(RANDOM, 'splits = { kind = "drawn" }').replace('data = "diabetes"', 'data = "product"')
    x, y, classes, train, test = rows_of(last(text, 2))
    expected = draw("product", last(text, 2).declared_seed + 2)
    assert np.array_equal(x, expected[0])
    assert np.array_equal(y, expected[1])
    assert (classes, len(train), len(test)) == (0, ROWS // 2, ROWS // 2)
    assert not np.array_equal(rows_of(last(text, 1))[0], x)
    with pytest.raises(ValueError, match="data must be one of product, relu where it is drawn; got 'diabetes'"):
        rows_of(last(text.replace('data = "product"', 'data = "diabetes"')))


def test_published_splits_end():
    text = TEXT.replace(RANDOM, 'splits = { kind = "published" }')
    with pytest.raises(ValueError, match="splits of diabetes must be at most the 0 published; got more"):
        rows_of(last(text))


def test_a_data_set_is_read_once():
    assert dataset("iris") is dataset("iris")


def test_fits_of_one_name_have_the_same_rows():
    d = small()
    one, two = (measurement(d, d.columns[0], model, {}, 1, d.selection) for model in d.models[:2])
    for a, b in zip(fits_of(one), fits_of(two), strict=True):
        assert a.name == b.name
        assert np.array_equal(a.train, b.train)
    assert len({fit.name for fit in fits_of(one)}) == 3
    assert fits_of(last(TEXT, 1))[0].name not in {fit.name for fit in fits_of(one)}


def test_masks_split_a_folder_of_numbers(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "more" / "tiny"
    folder.mkdir(parents=True)
    table = np.arange(12.0).reshape(4, 3)
    np.savetxt(folder / "data.csv.gz", table, delimiter=",")
    np.savetxt(folder / "test_mask.csv.gz", [[1, 0], [0, 1], [0, 0], [0, 1]], delimiter=",")
    monkeypatch.setenv("POLYLADDER_DATA", str(tmp_path))
    text = TEXT.replace('data = "diabetes"', 'data = "more/tiny"').replace(RANDOM, 'splits = { kind = "masks" }')
    features, target, classes, train, test = rows_of(last(text, 1))
    np.testing.assert_array_equal(features, table[:, :2])
    np.testing.assert_array_equal(target, table[:, 2])
    assert (classes, list(train), list(test)) == (0, [0, 2], [1, 3])
    with pytest.raises(ValueError, match="at most its 2 masks"):
        rows_of(last(text, 2))
    with pytest.raises(FileNotFoundError, match="must be a folder of POLYLADDER_DATA"):
        rows_of(last(text.replace("more/tiny", "more/none")))


def test_smooth_functions_have_their_own_rows() -> None:
    text = TEXT.replace('data = "diabetes"', 'data = "borehole-50"').replace(RANDOM, 'splits = { kind = "smooth" }')
    features, _, _, train, test = rows_of(last(text))
    assert (features.shape[1], len(train)) == (8, 50)
    assert not set(train) & set(test)
