"""The worker: a child process on a host that calls functions of gilscope for the runner.

It follows the child contract. A line on stdin is a call, {"call": "lab.machine.host:facts", "with":
[]}, and a line on stdout is its answer: {"answer": ...} or {"answer": null, "error": ...}. A
generator function runs up to its `yield`, and the answer is a number. {"finish": NUMBER} runs it to
its end, which returns the answer.
lab/hosts/connection.py starts it at the first call and reads its answers. They are on stdout, so a
called function must not print there. It imports the standard library and gilscope alone.
"""

import json
import sys
import zlib
from base64 import b64encode
from collections.abc import Generator, Mapping
from pkgutil import resolve_name
from typing import Any

from core.messages import GilscopeError, Message, verbatim


def main() -> None:
    """Answer calls until stdin ends."""
    begun: list[Generator[Any, None, Any]] = []
    for line in sys.stdin:
        try:
            answer = {"answer": _answer(json.loads(line), begun)}
        except GilscopeError as error:
            answer = {"answer": None, "error": error.message}
        except Exception as error:
            answer = {"answer": None, "error": verbatim(f"{type(error).__name__}: {error}")}
        print(json.dumps(answer, default=_plain), flush=True)


# *begun*: all generators so far. It is never shortened, because the answers are indexes into it.
def _answer(asked: Mapping[str, Any], begun: list[Generator[Any, None, Any]]) -> Any:
    if "finish" in asked:
        try:
            return next(begun[asked["finish"]])
        except StopIteration as end:
            return end.value
    answer = resolve_name(asked["call"])(*asked["with"])
    if not isinstance(answer, Generator):
        return answer
    begun.append(answer)
    next(answer)
    return len(begun) - 1


def _plain(value: Any) -> Any:
    """Return a value that JSON has. Bytes are compressed, and a dataclass becomes an object.

    A NamedTuple does not come here, because JSON has it as a list.
    """
    if isinstance(value, Message):
        return value.to_json()
    if isinstance(value, bytes):
        return b64encode(zlib.compress(value, 1)).decode()
    return vars(value)


if __name__ == "__main__":
    main()
