"""The page's modules become one script."""

from importlib.resources import files

import pytest

from polyladder.report.page import text_of
from polyladder.report.scripts import joined


def test_every_module_is_part_of_the_page_or_of_exported_scripts():
    read = set()

    def text(path):
        read.add(path)
        return text_of(path)

    joined("js/page/main.js", text)
    joined("js/model/predictor.js", text)
    root = files("polyladder.report").joinpath("js")
    there = [f"js/{folder.name}/{file.name}" for folder in root.iterdir() for file in folder.iterdir()]
    assert sorted(read) == sorted(there)


def test_modules_keep_their_names_apart():
    imports = 'import { a } from "./a.js";\nimport { b } from "./b.js";'
    modules = {
        "js/main.js": f"{imports}\na(b);",
        "js/a.js": "const same = 1;\nexport function a(x) {\n  return x + same;\n}",
        "js/b.js": 'import { a } from "./a.js";\nconst same = 2;\nexport const b = a(same);\nexport function* c() {}',
    }
    script = joined("js/main.js", modules.__getitem__)
    assert script.count("const same = ") == 2
    assert script.index("function a(x)") < script.index("const b = a(same)") < script.index("a(b);")
    assert script.count("function a(x)") == 1
    assert "return { b, c };" in script


@pytest.mark.parametrize(
    "line",
    [
        'import * as a from "./a.js";',
        'import { a as b } from "./a.js";',
        'import "./a.js";',
        "export { a };",
        "export default a;",
    ],
)
def test_other_ways_to_import_and_export_are_refused(line):
    with pytest.raises(AssertionError, match="must import and export"):
        joined("js/main.js", {"js/main.js": line, "js/a.js": ""}.__getitem__)
