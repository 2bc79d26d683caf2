"""What children must send, checked before it is used. Source: docs/child-contract.md."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import ChildFailed
from core.histogram import Histogram
from core.messages import Arg, message
from lab.run.children import RESULT, Child, failed
from lab.run.runtimes import AnyRuntime

PROGRAM_KINDS = {"program": str, "version": str, "compiler": str, "java": str, "packages": dict}
GIL_KINDS = {"gil_enabled_ready": bool, "gil_enabled_end": bool}
COUNTS = ("finished_ns", "completion_ns", "requests", "answered", "wrong")
CLIENT_KINDS = {**dict.fromkeys(COUNTS, int), "errors": dict, "latency": dict, **GIL_KINDS}
SERVICE_KINDS = {"requests": int, **GIL_KINDS}
HISTOGRAMS = ("latency", "connect", "waiting")


def addresses(line: Mapping[str, Any], child: Child) -> list[str]:
    """The addresses in a service's ready line. Raises ChildFailed."""
    listening: list[str] = _checked(line, child, {"addresses": list})["addresses"]
    return listening


def check_runtime(runtime: AnyRuntime, children: Sequence[Child], lines: Sequence[Mapping[str, Any]]) -> None:
    """Raises ChildFailed if a Python child does not run under the interpreter that it was started with.

    What a native child says it is stays with it.
    """
    expected = runtime.version
    for child, line in zip(children, lines, strict=True):
        facts = _checked(line, child, {"runtime": dict})["runtime"]
        if expected and facts.get("implementation") == "cpython" and facts.get("version") != expected:
            version = str(facts.get("version"))
            raise failed(
                child,
                message("runs under version {version}; {expected} was expected.", version=version, expected=expected),
            )
        if "program" in facts:
            kinds = {key: kind for key, kind in PROGRAM_KINDS.items() if key in facts}
            checked = _checked(facts, child, kinds)
            child.program = {key: checked[key] for key in kinds}


def client_results(lines: Sequence[Mapping[str, Any]], clients: Sequence[Child]) -> list[dict[str, Any]]:
    """What the clients' last lines say. Raises ChildFailed."""
    results = [_result(line, child, CLIENT_KINDS) for line, child in zip(lines, clients, strict=True)]
    for result, child in zip(results, clients, strict=True):
        _check_counts(result["errors"], child)
        for name in HISTOGRAMS:
            if name in result:
                _check_histogram(name, result[name], child)
    return results


def service_results(lines: Sequence[Mapping[str, Any]], services: Sequence[Child]) -> list[dict[str, Any]]:
    """What the services' last lines say. Raises ChildFailed."""
    return [_result(line, child, SERVICE_KINDS) for line, child in zip(lines, services, strict=True)]


def _result(line: Mapping[str, Any], child: Child, kinds: Mapping[str, type]) -> dict[str, Any]:
    result = _checked(_checked(line, child, {RESULT: dict})[RESULT], child, kinds)
    return {**result, "program": child.program} if child.program else result


def _checked(line: Mapping[str, Any], child: Child, kinds: Mapping[str, type]) -> dict[str, Any]:
    missing = [key for key in kinds if key not in line]
    if missing:
        raise failed(child, message("did not send {keys}, which the child contract requires.", keys=", ".join(missing)))
    for key, kind in kinds.items():
        if type(line[key]) is not kind:
            raise _unlike(child, key, line[key], kind.__name__)
    return dict(line)


def _unlike(child: Child, key: str, value: Any, kind: Arg) -> ChildFailed:
    return failed(
        child,
        message("sent {value} as {key}; the child contract requires {kind}.", value=repr(value), key=key, kind=kind),
    )


def _check_counts(errors: Mapping[Any, Any], child: Child) -> None:
    if not all(type(code) is str and type(number) is int for code, number in errors.items()):
        raise _unlike(child, "errors", errors, message("a number for each code"))


def _check_histogram(name: str, summary: Any, child: Child) -> None:
    try:
        Histogram.from_json(summary)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        cause = f"{type(error).__name__} {error}"
        raise failed(child, message("sent {key} that is not a histogram: {error}.", key=name, error=cause)) from error
