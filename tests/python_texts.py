"""The texts of Python modules for pybabel, in place of its own `python`: that one loses a call in which a keyword
occurs two parentheses deep, such as message("...", ends=listed(ends.items())).
"""

import ast
from collections.abc import Collection, Iterator
from typing import IO


def python_texts(
    file: IO[bytes], keywords: Collection[str], _tags: object, options: object
) -> Iterator[tuple[int, str, tuple[str | None, ...], list[str]]]:
    """Yield the line, the name and the literal arguments of each call of a keyword."""
    for node in ast.walk(ast.parse(file.read())):
        name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and name in keywords:
            given = [arg.value if isinstance(arg, ast.Constant) else None for arg in node.args]
            yield node.lineno, name, tuple(text if isinstance(text, str) else None for text in given), []
