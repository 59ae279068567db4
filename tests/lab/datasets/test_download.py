import bz2
import gzip
import hashlib
import io
import threading
import zipfile

import pytest

from polyladder_lab.datasets.download import download
from tests.lab.datasets.file_server import running_server

CONTENT = b"".join(b"%d %d\n" % (i, i * i) for i in range(30_000))
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with running_server() as running:
        yield running


@pytest.fixture
def target(tmp_path):
    return tmp_path / "cache" / "yacht" / "data.txt"


def names(target):
    return sorted(path.name for path in target.parent.iterdir())


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", ".").replace("_IN_", "/"), content)
    return buffer.getvalue()


@pytest.mark.parametrize("behavior", ["good", "no ranges", "no length"])
def test_a_file_arrives_whole_and_alone(server, target, behavior):
    url = server.serve("/data.txt", CONTENT, behavior)
    assert download([url], target, SHA256) == target
    assert target.read_bytes() == CONTENT
    assert names(target) == ["data.txt"]
    assert server.requests == [("/data.txt", None)]


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_a_compressed_file_is_kept_as_it_came(server, target, suffix, compress):
    compressed = compress(CONTENT)
    url = server.serve(f"/some/where{suffix}", compressed)
    path = download([url], target, SHA256)
    assert path == target.with_name(f"data.txt{suffix}")
    assert path.read_bytes() == compressed


def test_a_file_is_taken_out_of_its_archive(server, target):
    archive = zipped(Index=b"other", old_IN_data__txt__Z=b"other", new_IN_data__txt=CONTENT)
    path = download([server.serve("/yacht.zip", archive)], target, SHA256)
    assert path == target
    assert target.read_bytes() == CONTENT
    archive = zipped(data__txt__gz=gzip.compress(CONTENT))
    path = download([server.serve("/other.zip", archive)], target, SHA256)
    assert path == target.with_name("data.txt.gz")
    assert gzip.decompress(path.read_bytes()) == CONTENT


@pytest.mark.parametrize("behavior", ["truncate once", "stall once"])
def test_a_broken_connection_is_taken_up_where_it_broke(server, target, behavior):
    url = server.serve("/data.txt", CONTENT, behavior)
    assert download([url], target, SHA256, timeout=0.3).read_bytes() == CONTENT
    assert server.requests == [("/data.txt", None), ("/data.txt", f"bytes={len(CONTENT) // 2}-")]
    assert names(target) == ["data.txt"]


def test_a_truncated_file_is_never_there_under_its_name_and_the_next_download_goes_on(server, target):
    url = server.serve("/data.txt", CONTENT, "truncate")
    with pytest.raises(OSError, match=r"data\.txt could not be downloaded from .*the connection ended after \d+ of"):
        download([url], target, SHA256)
    (part,) = target.parent.iterdir()
    assert part.suffix == ".part"
    got = part.read_bytes()
    # Half, half of the rest, half of that.
    assert len(got) == pytest.approx(7 / 8 * len(CONTENT), abs=3)
    assert got == CONTENT[: len(got)]
    server.serve("/data.txt", CONTENT, "good")
    server.requests.clear()
    assert download([url], target, SHA256).read_bytes() == CONTENT
    assert server.requests == [("/data.txt", f"bytes={len(got)}-")]
    assert names(target) == ["data.txt"]


def test_a_part_is_dropped_where_the_server_sends_all_again(server, target):
    url = server.serve("/data.txt", CONTENT, "truncate")
    with pytest.raises(OSError, match="could not be downloaded"):
        download([url], target, SHA256)
    server.serve("/data.txt", CONTENT, "no ranges")
    server.requests.clear()
    assert download([url], target, SHA256).read_bytes() == CONTENT
    assert len(server.requests) == 1


def test_a_part_from_one_address_is_not_continued_from_another(server, target):
    url = server.serve("/data.txt", CONTENT, "truncate")
    other = server.serve("/data.txt.gz", gzip.compress(CONTENT))
    download([url, other], target, SHA256)
    assert [wanted for path, wanted in server.requests if path == "/data.txt.gz"] == [None]


@pytest.mark.parametrize("old", [b"x" * 1000, CONTENT + b"more"], ids=["other bytes", "too many bytes"])
def test_a_part_that_does_not_fit_is_dropped_and_the_file_fetched_anew(server, target, old):
    url = server.serve("/data.txt", CONTENT, "truncate")
    with pytest.raises(OSError, match="could not be downloaded"):
        download([url], target, SHA256)
    (part,) = target.parent.iterdir()
    part.write_bytes(old)
    server.serve("/data.txt", CONTENT, "good")
    server.requests.clear()
    assert download([url], target, SHA256).read_bytes() == CONTENT
    assert [wanted for _, wanted in server.requests] == [f"bytes={len(old)}-", None]
    assert names(target) == ["data.txt"]


def test_a_server_that_says_nothing_is_given_up(server, target):
    url = server.serve("/data.txt", CONTENT, "stall")
    with pytest.raises(OSError, match=r"data\.txt could not be downloaded from .*timed out"):
        download([url], target, SHA256, timeout=0.2)
    assert names(target) == []
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        ("/gone.txt", None, "404"),
        ("/data.txt", b"<html>Please sign in</html>", f"must have sha256 {SHA256}; got"),
        ("/data.txt", CONTENT.replace(b"7", b"8"), f"must have sha256 {SHA256}; got"),
        ("/data.txt.gz", CONTENT, r"must be a whole \.gz file"),
        ("/data.txt.gz", gzip.compress(CONTENT)[:-10], r"must be a whole \.gz file"),
        ("/data.zip", CONTENT, "must be a zip archive"),
        ("/data.zip", zipped(other__txt=CONTENT), r"must contain data\.txt; got"),
    ],
    ids=["404", "page", "bytes", "not gzip", "short gzip", "not zip", "other member"],
)
def test_what_is_not_the_file_leaves_nothing_behind(server, target, path, content, reason):
    url = server.address + path if content is None else server.serve(path, content)
    with pytest.raises(OSError, match=rf"data\.txt could not be downloaded from {url} \(.*{reason}"):
        download([url], target, SHA256)
    assert names(target) == []
    assert len(server.requests) == 1


def test_the_next_address_is_tried_and_every_failure_named(server, target):
    gone, wrong = server.address + "/gone", server.serve("/wrong", b"wrong")
    good = server.serve("/data.txt.gz", gzip.compress(CONTENT))
    assert download([gone, wrong, good], target, SHA256) == target.with_name("data.txt.gz")
    with pytest.raises(OSError, match=r"/gone \(HTTP Error 404: Not Found\) or .*/wrong \(the content must have"):
        download([gone, wrong], target, SHA256)


def test_a_server_that_is_not_there_is_a_failure_like_others(server, target):
    with pytest.raises(OSError, match=r"could not be downloaded from .*refused"):
        download(["http://127.0.0.1:9/data.txt"], target, SHA256)


def test_downloads_at_once_do_not_disturb_each_other(server, target):
    url = server.serve("/data.txt", CONTENT)
    paths = []
    threads = [threading.Thread(target=lambda: paths.append(download([url], target, SHA256))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert paths == [target] * 6
    assert target.read_bytes() == CONTENT
    assert names(target) == ["data.txt"]
