"""Compare fingerprints: digests of the code, interpreters and packages that measurements used.

Run.fingerprints has the form

    {"code": {id: {file: digest}}, "environments": {id: {"service": part, "client": part}}}

A part has `interpreter` {executable, version, build, digest}, `packages` {name: version}, `installed` (a digest of the
packages' files) and `programs` {path: digest}. Each cell names one id of `code` and one of `environments`.
"""

from collections.abc import Mapping

from core.messages import Json, Message, listed, message, plural, verbatim

CODE, ENVIRONMENTS = "code", "environments"
MOST_NAMED = 6
NONE_INSTALLED = message("not installed")


def code_changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[Message]:
    """Return the files that differ between two states of the code. At most MOST_NAMED files are named."""
    changed = _changed(before, now)
    changes = [_file_change(name, before, now) for name in changed[:MOST_NAMED]]
    more = len(changed) - MOST_NAMED
    return [*changes, plural("{count} more file", "{count} more files", count=more)] if more > 0 else changes


def environment_changes(before: Json, now: Json, runtime: str) -> list[Message]:
    """Return what has changed in the interpreters, packages and programs of services and clients under *runtime*."""
    changes: list[Message] = []
    for role in before.keys() | now.keys():
        changes += _part_changes(before.get(role, {}), now.get(role, {}), runtime)
    return list(dict.fromkeys(changes))


def _file_change(name: str, before: Mapping[str, str], now: Mapping[str, str]) -> Message:
    if name not in before:
        return message("{file} is new", file=name)
    return message("{file} changed", file=name) if name in now else message("{file} is missing", file=name)


def _part_changes(old: Json, new: Json, runtime: str) -> list[Message]:
    changes = [
        *_interpreter_changes(old.get("interpreter", {}), new.get("interpreter", {}), runtime),
        *_package_changes(old.get("packages", {}), new.get("packages", {}), runtime),
        *code_changes(old.get("programs", {}), new.get("programs", {})),
    ]
    if not changes and old.get("installed") != new.get("installed"):
        changes.append(message("files of the installed packages for {runtime} changed", runtime=runtime))
    return changes


def _interpreter_changes(old: Json, new: Json, runtime: str) -> list[Message]:
    before, now = (listed(part.get(key, "") for key in ("executable", "version", "build")) for part in (old, new))
    if str(before) != str(now):
        return [message("{runtime} changed from {before} to {now}", runtime=runtime, before=before, now=now)]
    if old.get("digest") != new.get("digest"):
        return [message("{file} changed", file=str(new.get("executable", "")))]
    return []


def _package_changes(old: Mapping[str, str], new: Mapping[str, str], runtime: str) -> list[Message]:
    return [
        message(
            "{package} changed from {before} to {now} (packages for {runtime})",
            package=name,
            before=verbatim(old.get(name, "")) or NONE_INSTALLED,
            now=verbatim(new.get(name, "")) or NONE_INSTALLED,
            runtime=runtime,
        )
        for name in _changed(old, new)
    ]


def _changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
