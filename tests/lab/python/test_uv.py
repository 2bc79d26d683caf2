"""Why a command of uv failed, and what to do about it."""

import pytest

from core.messages import message
from lab.python.uv import reason, remedy

UNREACHABLE = """error: Failed to fetch: http://127.0.0.1:9/simple/flask/
  cause: tcp connect error
  cause: Connection refused (os error 111)"""
UNFIT = """   Building grammar==1.2
error: Failed to download and build `grammar==1.2`
  cause: The built wheel `grammar-1.2-cp310-abi3-linux.whl` is not compatible with the current Python 3.14t
hint: A hint
of two lines"""
BROKEN = """error: Failed to build `broken==1.0`
  cause: The build backend returned an error
         [stderr]
         RuntimeError: the test server timed out"""


@pytest.mark.parametrize(
    ("output", "why", "what"),
    [
        (UNREACHABLE, "no network: connection refused", "Check the network"),
        (UNFIT, "The built wheel `grammar-1.2-cp310-abi3-linux.whl` is not compatible", "Change it"),
        (BROKEN, "Failed to build `broken==1.0`: RuntimeError: the test server timed out", "Change it"),
    ],
)
def test_only_a_failed_network_is_called_one(output: str, why: str, what: str) -> None:
    failure = reason(output)
    assert str(failure).startswith(why)
    assert str(remedy(failure, message("Change it."))).startswith(what)
