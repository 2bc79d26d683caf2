"""What audit finds, for tests/golden."""

from core.messages import verbatim
from lab.project.package_audit import PackageFinding, Problem


def package(name: str, *problems: tuple[str, str], version: str = "1.0") -> PackageFinding:
    found = tuple(Problem(kind=kind, detail=verbatim(detail)) for kind, detail in problems)
    return PackageFinding(package=name, version=version, modules=(name,), problems=found)


GIL = ("gil", "importing old switches the GIL on, by old._speed")
LATE = ("warns", "DeprecationWarning: use | new")
MIXED = [package("fine"), package("old", GIL, LATE), package("gone", ("not installable", "no"), version="")]
