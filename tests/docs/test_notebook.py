"""docs/explore.ipynb runs as it stands, and shows what the example run holds."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from lab.places import REPOSITORY
from reports.frame import frame

DOCS = REPOSITORY / "docs"
NOTEBOOK = DOCS / "explore.ipynb"
TIMEOUT_S = 120
LARGEST_BYTES = 300_000


def executed() -> NotebookNode:
    """The notebook with the outputs of a kernel of its own, started in docs.

    It listens at paths: a port that was free when it was chosen may be another test's when the kernel binds to it.
    """
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    place = {"metadata": {"path": str(DOCS)}}
    client = NotebookClient(notebook, timeout=TIMEOUT_S, startup_timeout=TIMEOUT_S, resources=place)
    with TemporaryDirectory(prefix="g-", dir="/tmp") as folder:
        kernel = client.create_kernel_manager()
        kernel.transport, kernel.ip = "ipc", f"{folder}/kernel"
        return client.execute()


def test_the_notebook_runs_and_shows_every_arm_and_a_plot() -> None:
    arms = frame(DOCS / "example-run")["arm"].unique()
    assert len(arms) > 2
    outputs = [output for cell in executed().cells for output in cell.get("outputs", [])]
    shown = [output.get("data", {}) for output in outputs]
    assert all(any(arm in data.get("text/plain", "") for data in shown) for arm in arms)
    assert any("image/png" in data for data in shown)
    assert not any(output.output_type in ("error", "stream") for output in outputs)


def test_the_example_run_is_small_and_names_no_machine_of_ours() -> None:
    path: Path = DOCS / "example-run" / "result.json"
    text = path.read_text(encoding="utf-8")
    assert len(text) < LARGEST_BYTES
    assert all(one["executable"].startswith("/usr/local/") for one in json.loads(text)["runtimes"].values())
