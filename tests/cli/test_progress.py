"""Progress where there is no terminal."""

import time

import pytest


def test_progress_lines_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from polyladder.cli.progress import progress

    monkeypatch.setattr("polyladder.cli.progress.EVERY", 0.05)
    with progress(True) as shown:
        shown.step("fitting")
        time.sleep(0.2)
    assert "0 s: fitting" in capsys.readouterr().err
    with progress(False) as shown:
        shown.step("fitting")
        time.sleep(0.1)
        shown.say("nothing")
    assert capsys.readouterr().err == ""
