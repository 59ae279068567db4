"""The page's mathematics in Node, without a page."""

import json
import shutil
import subprocess
import warnings

import pytest

from polyladder.report.page import text_of
from polyladder.report.scripts import joined

ENTRY = "js/model/asked.js"


def run(imports, function, *arguments):
    """What a JavaScript function gives for some arguments; ``imports`` are lines of imports as in ``js/model``."""
    return run_twice(imports, function, *arguments)[0]


def run_twice(imports, function, *arguments):
    """What a function gives, and whatever it prints later."""
    node = shutil.which("node")
    if node is None:
        warnings.warn("The report page's mathematics was not tested alone: there is no Node.", stacklevel=2)
        pytest.skip("there is no Node: the page's mathematics is not tested alone")
    asked = f"{imports}\nconsole.log(JSON.stringify(({function})(...JSON.parse(process.argv[2]))));"
    script = joined(ENTRY, lambda path: asked if path == ENTRY else text_of(path))
    command = [node, "-", json.dumps(arguments)]
    done = subprocess.run(command, input=script, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
