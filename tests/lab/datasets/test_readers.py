import bz2
import dataclasses
import gzip
import hashlib
import lzma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyladder_lab.datasets.catalog import catalog, find_entry
from polyladder_lab.datasets.readers import (
    idx_array,
    number_table,
    numbers,
    read_content,
    read_features_target,
    svmlight_table,
)

CONTENT = b"1 2\n3 4\n" * 50
COMPRESS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}


@pytest.mark.parametrize("suffix", COMPRESS)
def test_content_is_read_through_any_compression(tmp_path, suffix):
    path = tmp_path / f"data.txt{suffix}"
    path.write_bytes(COMPRESS[suffix](CONTENT))
    assert read_content(path, hashlib.sha256(CONTENT).hexdigest()) == CONTENT


@pytest.mark.parametrize("damage", ["truncate", "flip", "replace", "empty"])
@pytest.mark.parametrize("suffix", COMPRESS)
def test_damaged_content_is_refused_by_name(tmp_path, suffix, damage):
    content = bytearray(COMPRESS[suffix](CONTENT))
    match damage:
        case "truncate":
            del content[len(content) // 2 :]
        case "flip":
            content[len(content) // 2] ^= 0x10
        case "replace":
            content = b"<html>not here</html>"
        case "empty":
            content = b""
    path = tmp_path / f"data.txt{suffix}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"data\.txt.* must .*; .*Delete it, and loading will download it again"):
        read_content(path, hashlib.sha256(CONTENT).hexdigest())


@pytest.mark.slow
@given(
    values=st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3), min_size=1),
    separator=st.sampled_from([",", " ", "\t", " \t  "]),
    end=st.sampled_from(["\n", "\r\n", " \n"]),
)
def test_number_tables_keep_every_bit(values, separator, end):
    text = "".join(separator.join(map(repr, row)) + end for row in values).encode()
    np.testing.assert_array_equal(number_table(text, len(values), np.float64), np.array(values))


def test_whole_numbers_are_read_exactly_with_their_signs():
    table = number_table(b"-173,0,7173\n2147483647,-5,6\n", 2, np.int32)
    np.testing.assert_array_equal(table, [[-173, 0, 7173], [2147483647, -5, 6]])


def test_a_table_with_a_row_cut_short_is_refused():
    with pytest.raises(ValueError, match="must have 3 rows of equal length; got 8 numbers"):
        number_table(b"1 2 3\n4 5 6\n7 8", 3, np.float64)


@pytest.mark.parametrize("text", [b"1 2 x", b"1 2.5 3", b"<html>"])
def test_what_is_no_number_is_refused_instead_of_ending_the_table(text):
    with pytest.raises(ValueError, match="must be numbers only"):
        numbers(text, np.int64)


def small(name, **changes):
    return dataclasses.replace(find_entry(name), **changes)


def test_decimal_tables_end_in_the_target_and_may_have_unused_columns():
    features, target = read_features_target(small("yacht", rows=2, features=2), [b"1.5 2 3 9\n4 5 6.5 9\n"])
    np.testing.assert_array_equal(features, [[1.5, 2], [4, 5]])
    np.testing.assert_array_equal(target, [3, 6.5])
    assert features.dtype == target.dtype == np.float64


def test_class_labels_become_codes_from_zero_or_one_against_the_rest():
    text = b"10,11,1\n20,21,2\n30,31,7\n"
    features, target = read_features_target(small("covtype", rows=3, features=2), [text])
    np.testing.assert_array_equal(features, [[10, 11], [20, 21], [30, 31]])
    np.testing.assert_array_equal(target, [0, 1, 6])
    assert features.dtype == np.float64
    assert target.dtype == np.int64
    _, binary = read_features_target(small("covtype-b", rows=3, features=2), [text])
    np.testing.assert_array_equal(binary, [0, 1, 0])


def test_letters_become_codes_in_the_order_of_the_class_names():
    entry = small("letter", rows=3, features=2)
    features, target = read_features_target(entry, [b"T,2,8\nA,15,12\r\nZ,0,1\n"])
    np.testing.assert_array_equal(features, [[2, 8], [15, 12], [0, 1]])
    assert [entry.class_names[code] for code in target] == ["T", "A", "Z"]


def idx(array):
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes([0, 0, 8, array.ndim]) + sizes + array.astype(np.uint8).tobytes()


def test_idx_files_are_training_rows_then_test_rows():
    train, test = np.arange(12).reshape(3, 2, 2), np.arange(200, 208).reshape(2, 2, 2)
    contents = [idx(train), idx(np.array([3, 1, 4])), idx(test), idx(np.array([1, 5]))]
    features, target = read_features_target(small("mnist", rows=5, features=4), contents)
    np.testing.assert_array_equal(features, np.concatenate([train, test]).reshape(5, 4))
    np.testing.assert_array_equal(target, [3, 1, 4, 1, 5])


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"\x1f\x8b" + b[2:], lambda b: b[:2] + b"\x0d" + b[3:]])
def test_idx_files_of_another_size_or_type_are_refused(damage):
    with pytest.raises(ValueError, match="must be an IDX array of unsigned bytes"):
        idx_array(damage(idx(np.arange(6).reshape(2, 3))))


def test_svmlight_files_are_dense_and_one_below_the_other():
    features, labels = svmlight_table([b"1 1:0.5 4:-2\n3 2:1\n", b"2 4:7\n"], 4)
    np.testing.assert_array_equal(features, [[0.5, 0, 0, -2], [0, 1, 0, 0], [0, 0, 0, 7]])
    np.testing.assert_array_equal(labels, [1, 3, 2])


def test_a_table_of_another_shape_than_the_catalogs_is_refused():
    with pytest.raises(ValueError, match=r"sensIT must have 98528 rows of 100 features; got .* \(1, 100\)"):
        read_features_target(find_entry("sensIT"), [b"1 1:0.5\n"])


@pytest.mark.parametrize("entry", [e for e in catalog() if e.format == "scikit-learn"], ids=lambda entry: entry.name)
def test_scikit_learns_tables_agree_with_the_catalog(entry):
    features, target = read_features_target(entry, [])
    assert features.shape == (entry.rows, entry.features)
    if entry.class_names:
        np.testing.assert_array_equal(np.unique(target), np.arange(len(entry.class_names)))


def test_diabetes_comes_in_the_units_of_the_study():
    features, _ = read_features_target(find_entry("diabetes"), [])
    assert features[:, 0].min() == 19
    assert features[:, 0].max() == 79
