import sys
from pathlib import Path

import pytest

from polyladder_lab.datasets.catalog import find_entry
from polyladder_lab.datasets.folders import cache_folder, copies, data_folders


@pytest.fixture
def home(tmp_path, monkeypatch):
    for variable in ("POLYLADDER_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("platform", "parts"),
    [("linux", (".cache",)), ("darwin", ("Library", "Caches")), ("win32", ("AppData", "Local"))],
)
def test_the_cache_is_where_the_platform_keeps_caches(home, monkeypatch, platform, parts):
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == home.joinpath(*parts, "polyladder", "data")


@pytest.mark.parametrize(("platform", "variable"), [("linux", "XDG_CACHE_HOME"), ("win32", "LOCALAPPDATA")])
def test_the_cache_follows_the_platforms_variable(home, monkeypatch, platform, variable):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv(variable, str(home / "elsewhere"))
    assert cache_folder() == home / "elsewhere" / "polyladder" / "data"


def test_an_explicit_folder_comes_before_the_variable_and_both_before_the_cache(home, monkeypatch):
    assert data_folders() == (cache_folder(),)
    for name in ("named", "explicit"):
        (home / name).mkdir()
    monkeypatch.setenv("POLYLADDER_DATA", str(home / "named"))
    assert data_folders() == (home / "named", cache_folder())
    assert data_folders(home / "explicit") == (home / "explicit", cache_folder())


def test_a_folder_that_does_not_exist_is_refused_by_the_name_the_user_gave_it(home, monkeypatch):
    with pytest.raises(ValueError, match=r"^data_dir must be an existing folder; got '.*nowhere'"):
        data_folders(home / "nowhere")
    monkeypatch.setenv("POLYLADDER_DATA", str(home / "nowhere"))
    with pytest.raises(ValueError, match=r"^POLYLADDER_DATA must be an existing folder"):
        data_folders()


def test_copies_are_found_compressed_or_not_in_the_order_of_the_folders(home):
    entry = find_entry("bostonHousing")
    first, second = home / "first", home / "second"
    wanted = [first / "bostonHousing" / "data.txt.xz", second / "bostonHousing" / "data.txt"]
    for path in [*wanted, first / "bostonHousing" / "data.txt.part", second / "yacht" / "data.txt"]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert copies(entry, entry.files[0], (first, second)) == wanted
    assert copies(entry, entry.files[0], (second, first)) == wanted[::-1]
