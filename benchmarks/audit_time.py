"""How long `audit` takes for 30 packages and all that they need, from a cold start of gilscope with uv's cache warm.

Usage: python -m benchmarks.audit_time
Carries it out twice: the first fills uv's cache, the second is timed. Needs a package index, and 3.14t.
Exit status 1 where it takes longer than the bar.
"""

import json
import subprocess
import sys
from time import perf_counter

from lab.places import REPOSITORY

BAR_S = 20.0
PACKAGES = (
    "aiohttp", "asyncpg", "boto3", "celery", "cryptography", "django", "fastapi", "flask", "greenlet", "grpcio",
    "httpx", "jinja2", "lxml", "msgpack", "numpy", "orjson", "pandas", "pillow", "protobuf", "psutil",
    "psycopg[binary]", "psycopg2", "pydantic", "pyyaml", "redis", "requests", "sqlalchemy", "tornado", "uvicorn",
    "uvloop",
)  # fmt: skip


def main() -> int:
    """Print the time, and what is not ready."""
    words = [word for package in PACKAGES for word in ("--package", package)]
    command = [sys.executable, str(REPOSITORY / "runner.py"), "audit", "--json", *words]
    subprocess.run(command, check=False, capture_output=True)
    begin = perf_counter()
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    taken_s = perf_counter() - begin
    packages = json.loads(done.stdout)["packages"]
    missing = [package["package"] for package in packages if not package["passes"]]
    print(f"{taken_s:.1f} s for {len(PACKAGES)} packages and what they need, {len(packages)} in all (bar {BAR_S:g} s)")
    print(f"not ready: {', '.join(missing)}")
    return 0 if taken_s <= BAR_S else 1


if __name__ == "__main__":
    raise SystemExit(main())
