"""Compare fingerprints: digests of the code, interpreters and packages that measurements used.

Run.fingerprints has the form

    {"code": {id: {file: digest}}, "environments": {id: {"service": part, "client": part}}}

A part has `interpreter` {executable, version, build, digest}, `packages` {name: version},
`installed` (a digest of the packages' files) and `programs` {path: digest}. Each cell names one id
of `code` and one of `environments`.

lab/run/fingerprints.py makes them. lab/run, analysis/comparing.py and reports/parts/checks.py call
the functions below, to say what changed between two cells. This module only compares.
"""

from collections.abc import Mapping

from core.messages import Json, Message, message, plural, verbatim

# the keys of Run.fingerprints
CODE, ENVIRONMENTS = "code", "environments"
MOST_NAMED = 6  # changed files that are named; the others are only counted
NONE_INSTALLED = message("not installed")


def code_changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[Message]:
    """Return the files that differ between two states of the code, each a mapping of file names to
    digests. At most MOST_NAMED files are named.
    """
    changed = _changed(before, now)
    changes = [_file_change(name, before, now) for name in changed[:MOST_NAMED]]
    if (more := len(changed) - MOST_NAMED) > 0:
        changes.append(plural("{count} more file", "{count} more files", count=more))
    return changes


def environment_changes(before: Json, now: Json, runtime: str) -> list[Message]:
    """Return what has changed in the interpreters, packages and programs of services and clients
    under *runtime*.

    before, now: two values of `environments`: a part for each role, `service` and `client`
    """
    changes: list[Message] = []
    for role in dict.fromkeys([*before, *now]):
        changes += _part_changes(before.get(role, {}), now.get(role, {}), runtime)
    return list(dict.fromkeys(changes))


def _file_change(name: str, before: Mapping[str, str], now: Mapping[str, str]) -> Message:
    if name not in before:
        return message("{file} is new", file=name)
    if name not in now:
        return message("{file} is missing", file=name)
    return message("{file} changed", file=name)


def _part_changes(old: Json, new: Json, runtime: str) -> list[Message]:
    before, now = _versions(old, runtime), _versions(new, runtime)
    changes = [
        message(
            "{name} changed from {before} to {now} (under {runtime})",
            name=name,
            before=verbatim(before.get(name, "")) or NONE_INSTALLED,
            now=verbatim(now.get(name, "")) or NONE_INSTALLED,
            runtime=runtime,
        )
        for name in _changed(before, now)
    ]
    changes += code_changes(old.get("programs", {}), new.get("programs", {}))
    if not changes and old.get("installed") != new.get("installed"):
        changes.append(
            message("files of the installed packages for {runtime} changed", runtime=runtime)
        )
    return changes


def _versions(part: Json, runtime: str) -> dict[str, str]:
    """Return the versions of a part's packages, and of its interpreter under the name
    of *runtime*.
    """
    return {**part.get("packages", {}), runtime: ", ".join(part.get("interpreter", {}).values())}


def _changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
