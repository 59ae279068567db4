import dataclasses
import gzip
import hashlib

import numpy as np
import pytest

from polyladder_lab.datasets import dataset as dataset_module
from polyladder_lab.datasets.catalog import DataFile, find_entry
from polyladder_lab.datasets.dataset import load_dataset
from polyladder_lab.datasets.folders import cache_folder
from polyladder_lab.datasets.splits import seeded_splits
from tests.lab.datasets.file_server import running_server
from tests.real_data import needs_data, real_dataset

ROWS = np.round(np.random.default_rng(0).normal(size=(20, 7)), 3)
TEXT = "".join(" ".join(map(str, row)) + "\n" for row in ROWS).encode()


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A catalog whose yacht is a small table on a local server, and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("POLYLADDER_DATA", raising=False)
    with running_server() as running:
        url = running.serve("/yacht/data.txt", TEXT)
        file = DataFile("data.txt", (url,), hashlib.sha256(TEXT).hexdigest())
        entry = dataclasses.replace(find_entry("yacht"), rows=20, files=(file,))
        monkeypatch.setattr(dataset_module, "find_entry", {"yacht": entry, "sensIT": find_entry("sensIT")}.get)
        yield running


def put(folder, content):
    path = folder / "yacht" / "data.txt.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress(content))


def test_a_data_set_is_downloaded_once_into_the_cache(server):
    first, second = load_dataset("yacht"), load_dataset("yacht")
    assert len(server.requests) == 1
    assert [path.name for path in (cache_folder() / "yacht").iterdir()] == ["data.txt"]
    for data in (first, second):
        np.testing.assert_array_equal(data.features, ROWS[:, :6])
        np.testing.assert_array_equal(data.target, ROWS[:, 6])


def test_a_raw_table_alone_comes_with_the_published_splits(server):
    data = load_dataset("yacht")
    assert len(data.splits) == 20
    for one, other in zip(data.splits, seeded_splits(20, 20), strict=True):
        np.testing.assert_array_equal(one.train, other.train)
        np.testing.assert_array_equal(one.test, other.test)


@pytest.mark.parametrize("how", ["argument", "variable", "cache"])
def test_a_file_at_hand_is_used_instead_of_the_network(server, tmp_path, monkeypatch, how):
    folder = cache_folder() if how == "cache" else tmp_path / "mine"
    put(folder, TEXT)
    if how == "variable":
        monkeypatch.setenv("POLYLADDER_DATA", str(folder))
    data = load_dataset("yacht", folder if how == "argument" else None)
    np.testing.assert_array_equal(data.features, ROWS[:, :6])
    assert server.requests == []


def test_stored_splits_beside_the_table_are_used(server, tmp_path):
    put(tmp_path / "mine", TEXT)
    for k in range(20):
        (tmp_path / "mine" / "yacht" / f"index_train_{k}.txt").write_text("".join(f"{i}\n" for i in range(k, 20)))
        (tmp_path / "mine" / "yacht" / f"index_test_{k}.txt").write_text("".join(f"{i}\n" for i in range(k)))
    splits = load_dataset("yacht", tmp_path / "mine").splits
    assert [split.test.tolist() for split in splits] == [list(range(k)) for k in range(20)]


def test_a_damaged_file_at_hand_is_refused_and_not_replaced(server, tmp_path):
    put(tmp_path / "mine", TEXT.replace(b"1", b"2"))
    with pytest.raises(ValueError, match=r"yacht/data\.txt\.gz must have content of sha256"):
        load_dataset("yacht", tmp_path / "mine")
    assert server.requests == []


def test_a_failed_download_says_which_file_to_put_where(server, tmp_path):
    del server.files["/yacht/data.txt"]
    with pytest.raises(OSError, match="HTTP Error 404") as caught:
        load_dataset("yacht")
    place = cache_folder() / "yacht" / "data.txt"
    assert f"Put data.txt (as it is, or as .gz, .xz or .bz2) at {place}" in str(caught.value)
    assert "POLYLADDER_DATA" in str(caught.value)


def test_sensit_says_in_one_sentence_how_to_get_it(server, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        load_dataset("sensIT", tmp_path)
    message = str(caught.value)
    assert "vehicle/combined.bz2 and https://" in message
    assert f"vehicle/combined.t.bz2 into {tmp_path / 'sensIT'}." in message
    assert server.requests == []


def test_a_fetched_sensit_is_read_with_its_own_test_set(server, tmp_path, monkeypatch):
    entry = dataclasses.replace(find_entry("sensIT"), rows=3, test_rows=1)
    monkeypatch.setattr(dataset_module, "find_entry", lambda name: entry)
    (tmp_path / "sensIT").mkdir()
    (tmp_path / "sensIT" / "combined").write_text("1 1:0.5 100:2\n3 2:1\n")
    (tmp_path / "sensIT" / "combined.t").write_text("2 7:4\n")
    data = load_dataset("sensIT", tmp_path)
    assert data.features[0, 99] == 2
    assert data.target.tolist() == [0, 2, 1]
    assert [(split.train.tolist(), split.test.tolist()) for split in data.splits] == [([0, 1], [2])]


def test_what_is_shown_of_a_data_set_is_short():
    assert repr(load_dataset("iris")) == "Dataset(name='iris', task='classification', target_name='species')"


def test_nothing_is_downloaded_for_what_scikit_learn_ships():
    assert load_dataset("digits").features.shape == (1797, 64)
    assert load_dataset("digits").splits == ()


@needs_data("bostonHousing")
def test_boston_is_the_published_table():
    boston = real_dataset("bostonHousing")
    assert boston.features.shape == (506, 13)
    np.testing.assert_array_equal(boston.features[0, :3], [0.00632, 18.0, 2.31])
    assert boston.target[0] == 24.0
    assert boston.target.mean() == pytest.approx(22.5328, abs=1e-4)
    assert [len(split.train) for split in boston.splits] == [455] * 20


# Test RMSE of ordinary least squares, mean over the published splits, as recorded with the data.
LEAST_SQUARES = {
    "wine-quality-red": 0.654,
    "power-plant": 4.613,
    "kin8nm": 0.2023,
    "boston-housing": 4.588,
    "concrete": 10.31,
    "energy": 3.056,
    "yacht": 8.969,
}


@pytest.mark.slow
@needs_data(*LEAST_SQUARES)
@pytest.mark.parametrize("name", LEAST_SQUARES)
def test_least_squares_on_the_splits_gives_the_recorded_error(name):
    data = real_dataset(name)
    design = np.column_stack([np.ones(len(data.features)), data.features])
    errors = []
    for train, test in data.splits:
        weights = np.linalg.lstsq(design[train], data.target[train], rcond=None)[0]
        errors.append(np.sqrt(np.mean((design[test] @ weights - data.target[test]) ** 2)))
    assert np.mean(errors) == pytest.approx(LEAST_SQUARES[name], rel=1e-3)


@needs_data("naval-propulsion-plant")
def test_naval_has_the_two_constant_features_its_note_names():
    naval = real_dataset("naval-propulsion-plant")
    constant = [naval.feature_names[j] for j in np.flatnonzero(np.ptp(naval.features, axis=0) == 0)]
    assert constant == ["compressor_inlet_temperature", "compressor_inlet_pressure"]


@pytest.mark.slow
@needs_data("skin", "letter")
def test_classes_of_skin_and_letter_are_counted_as_published():
    skin = real_dataset("skin")
    assert np.bincount(skin.target).tolist() == [50859, 194198]
    assert skin.class_names[0] == "skin"
    assert len(np.unique(np.column_stack([skin.features, skin.target]), axis=0)) == 51444
    letter = real_dataset("letter")
    counts = np.bincount(letter.target)
    assert (counts.size, counts.min(), counts.max(), counts.sum()) == (26, 734, 813, 20000)


@pytest.mark.slow
@needs_data("covtype")
def test_classes_of_covtype_are_counted_as_published():
    data = real_dataset("covtype")
    assert np.bincount(data.target).tolist() == [211840, 283301, 35754, 2747, 9493, 17367, 20510]
    soil = data.feature_names.index("soil_type_1")
    assert data.features[:, soil:].sum() == len(data.features)
    assert data.features[:, soil:].max() == 1


@pytest.mark.slow
@needs_data("mnist")
def test_mnist_is_scaled_and_counted_as_published():
    mnist = real_dataset("mnist")
    ((train, test),) = mnist.splits
    assert (len(train), len(test)) == (60000, 10000)
    assert np.bincount(mnist.target[test]).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert mnist.features[:60000].mean() / 255 == pytest.approx(0.1307, abs=5e-5)


@pytest.mark.slow
@needs_data("fashion-mnist")
def test_fashion_mnist_is_balanced():
    fashion = real_dataset("fashion-mnist")
    ((train, test),) = fashion.splits
    assert np.bincount(fashion.target[train]).tolist() == [6000] * 10
    assert np.bincount(fashion.target[test]).tolist() == [1000] * 10
