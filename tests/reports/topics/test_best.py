"""What reports say of the best services: each step with its interval, who they are; on a terminal of 80 columns."""

from reports.topics.best import section
from reports.view import View
from tests.reports.facts.test_best import a_run


def test_a_step_names_both_services_and_the_ratio_between_them() -> None:
    (sentence,) = section(View(a_run())).sentences
    assert str(sentence) == (
        "The best service on 3.14t (System 4, DISPATCH owned) has 1.50 [1.50, 1.50] times the throughput of the best "
        "service on 3.14 (System 4, DISPATCH leader): faster."
    )
