"""The price of cores and memory, which --price gives."""

import re
from dataclasses import dataclass
from math import ceil

from core.errors import BadInput

_NUMBER = r"([0-9]{1,9}(?:\.[0-9]{1,6})?)"
_PRICE = re.compile(rf"core={_NUMBER}/([a-z]{{1,12}}), *(gi?b)={_NUMBER}/\2", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Price:
    """The prices of a core and of a byte of memory for a *period* such as month, in the user's currency."""

    core: float
    byte: float
    period: str

    @classmethod
    def parse(cls, text: str) -> "Price":
        """Parse prices such as 'core=25/month, gb=3/month'. Raises BadInput."""
        match = _PRICE.fullmatch(text.strip())
        if not match:
            raise BadInput(
                "price is {value!r}; it must be the price of a core and of a GB or GiB for the same period, such "
                "as 'core=25/month, gb=3/month'.",
                value=text,
            )
        size_bytes = 10**9 if match[3].lower() == "gb" else 2**30
        return cls(core=float(match[1]), byte=float(match[4]) / size_bytes, period=match[2])

    def cost(self, rate: float, capacity: float, cores: float, size_bytes: float) -> float:
        """Return the price for one period, such as a month, of enough equal instances to serve *rate* requests/s.

        capacity: requests/s of one instance. cores and size_bytes: the CPU cores and memory of one instance
        """
        return ceil(rate / capacity) * (cores * self.core + size_bytes * self.byte)
