"""A wheel of one module with a program, and a project of one module, made without a network and without tools."""

import base64
import hashlib
import zipfile
from pathlib import Path

MODULE = """
import sys
VALUE = 7

def main():
    print(VALUE, sys.prefix)
"""
BACKEND = """
import zipfile
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


def write_wheel(folder: Path, module: str = MODULE) -> Path:
    """A wheel of the module tiny_thing and its program tiny-serve, and the file that asks for it without an index."""
    info = "tiny_thing-1.2.dist-info"
    files = {
        "tiny_thing.py": module,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tiny-thing\nVersion: 1.2\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ntiny-serve = tiny_thing:main\n",
    }
    files[f"{info}/RECORD"] = "".join(_record_line(name, text) for name, text in files.items()) + f"{info}/RECORD,,\n"
    wheel = folder / "tiny_thing-1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    requirements = folder / "requirements-tiny.txt"
    requirements.write_text(f"--no-index\n--find-links {folder}\ntiny-thing==1.2 --hash=sha256:{digest}\n")
    return requirements


def write_project(folder: Path, value: int) -> None:
    """A project whose module shop has that VALUE; it builds itself."""
    folder.mkdir()
    (folder / "shop.py").write_text(f"VALUE = {value}\n")
    (folder / "backend.py").write_text(BACKEND)
    (folder / "pyproject.toml").write_text(PROJECT)


def _record_line(name: str, text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{len(text)}\n"
