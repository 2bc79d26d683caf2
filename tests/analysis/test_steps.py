"""Which runtimes are compared, and what each step is due to."""

import json
from dataclasses import replace

from analysis.confounds import build_confounds
from analysis.steps import steps
from tests.reports.sample import facts
from tests.tables import each_row


@each_row
def test_a_jit_is_a_step_of_its_own_beside_the_way_to_no_gil(line: str) -> None:
    arms, _, found = line.partition(" -> ")
    told = [f"{one.name}: {one.denominator} {one.numerator}" for one in steps(arms.split(), {}, {})]
    assert ", ".join(told) == found


# ---- confounds -----------------------------------------------------------------------------------------------------


def test_a_runtime_of_which_nothing_is_known_confounds_nothing() -> None:
    (lock,) = steps(["3.14t+gil", "3.14t"], {}, {})
    assert build_confounds(lock, {"3.14t": facts("3.14t")}) == []


PACKAGES = json.loads("""{
    "3.11": {"flask": "3.1.2", "numpy": "2.3.5", "typing_extensions": "4.15.0", "pip": "25.0"},
    "3.14": {"flask": "3.1.3", "numpy": "2.3.5", "pip": "25.3", "greenlet": "3.2.0"}
}""")


def test_packages_of_other_versions_are_named_with_both() -> None:
    (step,) = steps(["3.11", "3.14"], {}, {})
    built = {
        name: replace(facts(name), packages={"/shop/requirements.txt": packages}) for name, packages in PACKAGES.items()
    }
    assert [*map(str, build_confounds(step, built))] == [
        "package flask: 3.1.2 versus 3.1.3",
        "package greenlet: missing versus 3.2.0",
        "package typing_extensions: 4.15.0 versus missing",
    ]
