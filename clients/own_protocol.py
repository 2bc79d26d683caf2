"""A protocol of the user's own: the functions encode(), decode() and check() of a System, and what they do wrong."""

from typing import Any

from clients.channel import CallFailed, shown_bytes
from core.system import MORE, System

ANSWER_LIMIT_S = 10.0  # as for a user's service


class OwnProtocol:
    """The functions of a System, for the requests of one client to one service."""

    def __init__(self, system: System) -> None:
        assert system.encode, "core.system_file accepts a System only with all three functions"
        assert system.decode
        assert system.check
        self._encode, self._decode, self._check = system.encode, system.decode, system.check
        self._sizes = set[int]()

    def encode(self, number: int) -> bytes:
        """Return the bytes of the request *number*. Raises CallFailed if encode() does not."""
        try:
            message = self._encode(number)
        except Exception as error:
            raise CallFailed("encode", f"no answer, because encode({number}) failed: {_short(error)}") from error
        if not isinstance(message, bytes):
            raise CallFailed("encode", f"no answer, because encode({number}) returned {_short(message)}, not bytes")
        return message

    def decode(self, buffer: bytes) -> Any:
        """Return a pair of the answer in *buffer* and *buffer* itself. Return MORE if the answer is not complete.

        Raises CallFailed if decode() fails, or if it finds an answer before the end of *buffer*. The latter is tried
        for one answer of each size.
        """
        answer = self._decoded(buffer)
        if answer is MORE:
            return MORE
        if len(buffer) not in self._sizes and self._decoded(buffer[:-1]) is not MORE:
            raise CallFailed("extra", f"{shown_bytes(buffer)}, of which decode() needs only the first bytes")
        self._sizes.add(len(buffer))
        return answer, buffer

    def _decoded(self, buffer: bytes) -> Any:
        try:
            return self._decode(buffer)
        except Exception as error:
            raise CallFailed("garbled", f"{shown_bytes(buffer)}, for which decode() failed: {_short(error)}") from error

    def fault(self, answer: tuple[Any, bytes], number: int) -> str:
        """Return what is wrong with an answer that decode() returned for the request *number*; "" if it is right."""
        decoded, buffer = answer
        try:
            verdict: object = self._check(decoded, number)
        except Exception as error:
            outcome = f"failed: {_short(error)}"
        else:
            if verdict:
                return ""
            outcome = f"returned {verdict!r}"
        return f"{shown_bytes(buffer)}, for which check({_short(decoded)}, {number}) {outcome}"


def _short(value: object) -> str:
    return f"{value!r:.100}"
