"""Archives of files: what of a user's service is copied to another host.

These are the service's working directory, and the paths in its requirements.

lab/hosts/place.py calls user_files() and with_bodies() in the orchestrator, and
lab/hosts/carrier.py calls packed(). lab/hosts/worker.py unpacks the archive on the host, and
replaces FILES there.
"""

import io
import os
import zipfile
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from core.messages import BadInput, Json, Message, message, verbatim
from core.request_plan import RequestPlan
from lab.digests import walk
from lab.environments.environment import requirements_file
from lab.environments.requirements import Requirements, read, relocate_paths

MOST_BYTES = 64 << 20  # of one folder or file that is copied, before compression
MOST_FILES = 10_000  # in one folder that is copied
MOST_BODY_BYTES = 4 << 20  # of all files with request bodies together
OWN = "own"  # the name of the service's working directory in an archive of a user's files
FILES = "{files}"  # in a line of requirements: the folder of the user's files on the host
# names of folders that are not copied
LEFT_OUT = {
    ".git",
    ".hg",
    ".svn",
    ".venv",
    ".tox",
    ".nox",
    "__pycache__",
    "node_modules",
    "gilscope-runs",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
}


def packed(files: Iterable[tuple[str, Path]]) -> bytes:
    """Return an archive of *files*, each with its name in the archive. Raises OSError if a file
    cannot be read.
    """
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as entries:
        for name, path in files:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o700 if os.access(path, os.X_OK) else 0o600) << 16
            entries.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def user_files(own: Json) -> tuple[bytes, list[str]]:
    """Return an archive of a user's service, and its requirements with paths for the host to which
    it is copied. This may write a requirements file beside this machine's environments.

    In these paths, FILES stands for the folder on the host.
    own: a core.user_service.Command as JSON, or its directory, requirements and packages. It has no
        overrides, because config/host_options.py refuses them
    Raises BadInput if the files are too many or too large.
    """
    roots = {OWN: Path(own["directory"]).resolve()}  # what is copied, by the names in the archive

    # adds to roots, so it must have seen all lines before the files are packed
    def host_path(path: Path) -> str:
        path = path.resolve()
        for name, root in roots.items():
            if path.is_relative_to(root):
                return f"{FILES}/{Path(name, path.relative_to(root))}"
        name = f"{len(roots)}/{path.name}"
        roots[name] = path
        return f"{FILES}/{name}"

    file = requirements_file(own["requirements"], own["packages"])
    wanted = read(Path(file)) if file else Requirements()
    lines = [relocate_paths(line, host_path) for line in (*wanted.options, *wanted.entries)]
    try:
        content = packed([file for root in roots.items() for file in _files(*root)])
    except OSError as error:
        raise BadInput(
            "{path} cannot be copied to a host: {error}. Give access to this path, or move it out "
            "of the folder.",
            path=str(error.filename),
            error=error.strerror,
        ) from None
    return content, lines


def with_bodies(own: Json) -> Json:
    """Return the service's requests, with the paths of body files replaced by the files' contents.
    Raises BadInput.
    """
    plan = RequestPlan.from_json(own["requests"])
    # a file that is missing stays a path, and fails when the client reads it
    files = {Path(one.body_file) for one in plan.requests if os.path.isfile(one.body_file)}
    _check_size(message("The files with request bodies"), files, MOST_BODY_BYTES)
    requests = []
    for request in plan.requests:
        if Path(request.body_file) in files:
            # any bytes are possible: surrogates keep those that are not UTF-8
            body = Path(request.body_file).read_bytes().decode(errors="surrogateescape")
            requests.append(replace(request, body=body, body_file=""))
        else:
            requests.append(request)
    return {"requests": replace(plan, requests=tuple(requests)).to_json()}


def _files(name: str, root: Path) -> list[tuple[str, Path]]:
    """Return the archive name and path of each file below *root*, or of *root* if it is a file.
    Raises BadInput.
    """
    found = map(Path, walk(root, LEFT_OUT.__contains__))
    # a link that leads out of the folder is left out
    inside = (path for path in found if path.is_file() and path.resolve().is_relative_to(root))
    paths = [root] if root.is_file() else list(islice(inside, MOST_FILES + 1))
    if len(paths) > MOST_FILES:
        raise BadInput(
            "{folder} has more than {count} files, too many to copy to a host. Choose a smaller "
            "folder with --directory.",
            folder=str(root),
            count=MOST_FILES,
        )
    _check_size(verbatim(str(root)), paths, MOST_BYTES)
    return [(str(Path(name, path.relative_to(root))), path) for path in paths]


def _check_size(what: Message, paths: Iterable[Path], most_bytes: int) -> None:
    size_bytes = sum(path.stat().st_size for path in paths)
    if size_bytes > most_bytes:
        raise BadInput(
            "{what}: {size_mib:.1f} MiB is too much to copy to a host; the limit is {most_mib} "
            "MiB. Remove files that the service does not need, or choose a smaller folder with "
            "--directory.",
            what=what,
            size_mib=size_bytes / 2**20,
            most_mib=most_bytes >> 20,
        )
