"""Wheels, and a project of one module, made without a network and without tools."""

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path

MODULE = """
import sys
VALUE = 7

def main():
    print(VALUE, sys.prefix)
"""
BACKEND = """
import zipfile
from collections.abc import Mapping
from pathlib import Path

def build_wheel(folder, config_settings=None, metadata_directory=None):
    info = "shop-1.0.dist-info"
    with zipfile.ZipFile(Path(folder) / "shop-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("shop.py", Path("shop.py").read_text())
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: shop\\nVersion: 1.0\\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(f"{info}/RECORD", f"shop.py,,\\n{info}/METADATA,,\\n{info}/WHEEL,,\\n{info}/RECORD,,\\n")
    return "shop-1.0-py3-none-any.whl"
"""
PROJECT = """
[project]
name = "shop"
version = "1.0"

[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""


def wheel(
    folder: Path,
    name: str,
    files: Mapping[str, bytes],
    needs: str = "",
    version: str = "1.0",
    tag: str = "py3-none-any",
) -> Path:
    """A wheel in *folder*. Source: packaging.python.org, binary distribution format."""
    info, project = f"{name}-{version}.dist-info", name.replace("_", "-")
    need = f"Requires-Dist: {needs}\n" if needs else ""
    all_files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n{need}".encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n".encode(),
    }
    record = "".join(f"{file},{_digest(data)},{len(data)}\n" for file, data in all_files.items())
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, data in {**all_files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n".encode()}.items():
            archive.writestr(file, data)
    return path


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write_wheel(folder: Path, module: str = MODULE) -> Path:
    """A wheel of the module tiny_thing and its program tiny-serve, and the file that asks for it without an index."""
    program = b"[console_scripts]\ntiny-serve = tiny_thing:main\n"
    files = {"tiny_thing.py": module.encode(), "tiny_thing-1.2.dist-info/entry_points.txt": program}
    digest = hashlib.sha256(wheel(folder, "tiny_thing", files, version="1.2").read_bytes()).hexdigest()
    requirements = folder / "requirements-tiny.txt"
    requirements.write_text(f"--no-index\n--find-links {folder}\ntiny-thing==1.2 --hash=sha256:{digest}\n")
    return requirements


def write_project(folder: Path, value: int) -> None:
    """A project whose module shop has that VALUE; it builds itself."""
    folder.mkdir()
    (folder / "shop.py").write_text(f"VALUE = {value}\n")
    (folder / "backend.py").write_text(BACKEND)
    (folder / "pyproject.toml").write_text(PROJECT)
