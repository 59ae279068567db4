"""One script of several modules, as a page needs it that may fetch nothing.

The files under ``js`` are modules as browsers and Node know them, so that Node can check and test them. Of all ways to
import and export they use one each: ``import { a, b } from "./file.js";`` and ``export`` before a declaration.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

IMPORT = re.compile(r'^import \{(\s*\w+(?:,\s*\w+)*,?\s*)\} from "(\.[^"]*)";$', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|const) (\w+))", re.MULTILINE)
LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def joined(entry: str, read: Callable[[str], str]) -> str:
    """The module and all that it imports as one script: each becomes a function that returns what it exports.

    Args:
        entry: path of the module that starts the page.
        read: the text of a module by its path.

    >>> files = {"js/main.js": 'import { one } from "./one.js";\\nalert(one);', "js/one.js": "export const one = 1;"}
    >>> print(joined("js/main.js", files.__getitem__))
    "use strict";
    const module0 = (() => {
    const one = 1;
    return { one };
    })();
    const module1 = (() => {
    const { one } = module0;
    alert(one);
    return {  };
    })();
    """
    names: dict[str, str] = {}
    parts = ['"use strict";']

    def add(path: str) -> str:
        if path not in names:
            folder = posixpath.dirname(path)

            def bound(found: re.Match[str]) -> str:
                return f"const {{{found[1]}}} = {add(posixpath.normpath(posixpath.join(folder, found[2])))};"

            body = IMPORT.sub(bound, read(path))
            plain = EXPORT.sub(r"\1", body)
            left = LEFT.search(plain)
            assert left is None, f"{path} must import and export in the two ways above; got {left[0]}"
            exported = ", ".join(found[2] for found in EXPORT.finditer(body))
            names[path] = f"module{len(names)}"
            parts.append(f"const {names[path]} = (() => {{\n{plain}\nreturn {{ {exported} }};\n}})();")
        return names[path]

    add(entry)
    return "\n".join(parts)
