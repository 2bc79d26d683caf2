"""YAML in which every scalar is a text, so that 3.10 stays 3.10 and files and flags are parsed alike."""

from pathlib import Path
from typing import Any

import yaml

from core.errors import BadInput


class _TextLoader(yaml.BaseLoader):
    """BaseLoader (every scalar a string) that refuses a key given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str) or key in seen:
                raise yaml.MarkedYAMLError(problem=f"key {key!r} is given twice", problem_mark=key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


def read_yaml(path: Path, flag: str) -> Any:
    """What is in the file that *flag* names. Raises BadInput if it cannot be read, or is not YAML."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_TextLoader)
    except OSError as error:
        raise BadInput(
            "{path} cannot be read: {reason}; name a YAML file with {flag}.",
            path=str(path),
            reason=str(error.strerror),
            flag=flag,
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput("{path} is not YAML: {error}.", path=str(path), error=_cause(error)) from None


def _cause(error: Exception) -> str:
    """What is wrong and where, without the lines themselves: these may hold secrets."""
    for mark in (getattr(error, "context_mark", None), getattr(error, "problem_mark", None)):
        if mark is not None:
            mark.buffer = None
    return " ".join(str(error).split())
