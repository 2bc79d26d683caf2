"""Which skips CI takes."""

from tests.conftest import unlisted


def test_a_skip_for_want_of_what_every_machine_of_ci_has_is_not_listed() -> None:
    missing = "uv was not found"
    newer = "Runtime 3.15t was not found. Install it with: uv python install 3.15t"
    assert unlisted([newer, missing, "needs cargo", missing]) == [missing]
