import re

import pytest

from polyladder_lab.datasets.catalog import catalog, expand, find_entry
from tests.real_data import data_folder, needs_data

PAPER = [
    *("wine-quality-red", "power-plant", "kin8nm", "boston-housing", "concrete", "mnist", "fashion-mnist"),
    *("skin", "sensIT", "letter", "covtype-b", "covtype"),
]
OTHER_SPLITS = ["energy", "naval-propulsion-plant", "protein-tertiary-structure", "yacht"]
SCIKIT_LEARN = ["diabetes", "iris", "wine", "breast-cancer", "digits"]


def test_the_catalog_holds_what_it_should_in_order():
    assert [entry.name for entry in catalog()] == PAPER + OTHER_SPLITS + SCIKIT_LEARN


@pytest.mark.parametrize("entry", catalog(), ids=lambda entry: entry.name)
def test_every_entry_is_complete_and_consistent(entry):
    assert entry.origin
    assert entry.license
    assert entry.rows > 0
    assert len(entry.feature_names) == len(set(entry.feature_names)) == entry.features
    assert len(set(entry.class_names)) == len(entry.class_names)
    assert (len(entry.class_names) >= 2) == (entry.task == "classification")
    assert bool(entry.files) == (entry.format != "scikit-learn")
    for file in entry.files:
        assert file.urls
        assert all(re.fullmatch(r"https://[^/\s]+/\S+", url) for url in file.urls)
        assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert (file.sha256 is None) == (entry.name == "sensIT")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("bostonHousing", "boston-housing"),
        ("Boston_Housing", "boston-housing"),
        ("covtype-b", "covtype-b"),
        ("covtype", "covtype"),
        ("SENSIT", "sensIT"),
        ("wine", "wine"),
    ],
)
def test_names_are_found_in_any_spelling(name, found):
    assert find_entry(name).name == found


def test_an_unknown_name_is_refused_with_the_nearest_one():
    with pytest.raises(ValueError, match=r"got 'fashion-minst'\. Did you mean 'fashion-mnist'\?"):
        find_entry("fashion-minst")
    with pytest.raises(ValueError, match="`polyladder datasets` lists them all"):
        find_entry("zzz")


def test_expand_counts_up_and_keeps_the_rest():
    assert expand(["a", "b_{9..11}", "c"]) == ("a", "b_9", "b_10", "b_11", "c")


REGRESSION = [entry for entry in catalog() if entry.seeded_splits]


@needs_data(*(entry.name for entry in REGRESSION))
@pytest.mark.parametrize("entry", REGRESSION, ids=lambda entry: entry.name)
def test_columns_and_number_of_splits_agree_with_the_published_files(entry):
    def numbers(name):
        return [int(float(line)) for line in (data_folder() / entry.folder / name).read_text().split()]

    assert numbers("index_features.txt") == list(range(entry.features))
    assert numbers("index_target.txt") == [entry.features]
    assert numbers("n_splits.txt") == [entry.seeded_splits]


def test_the_catalog_shows_itself_without_the_names_of_pixels() -> None:
    assert "pixel" not in repr(catalog())
    for entry in catalog():
        assert len(repr(entry)) < 800
        assert entry.name in repr(entry)
