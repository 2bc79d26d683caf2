"""Statistics of short time slices of measurements: unsteady starts, noise, and how long a run must
be.
"""

import numpy as np

from analysis.significance import sign_flip_p
from analysis.stats import Floats

STEADY_ALPHA = 0.01
LEAST_LOSS = 0.01


def start_of(rates: Floats) -> tuple[int, float]:
    """Return how many first time slices have unsteady throughput, and by what share they lower the
    count of answers.

    rates: answers per time slice, shape (cells, slices)
    The start ends where the standard error of the remaining mean is smallest (MSER), within the
    first half. It counts if the sign-flip p of the cells' losses is at most 1 % and they lose 1 %
    or more; else the result is (0, 0.0).
    Source: White (1997), "An effective truncation heuristic
    for bias reduction in simulation output".
    """
    count = rates.shape[1]
    if (
        not rates[:, count // 2 :].any(axis=1).all()
    ):  # a cell has no steady rate, because it got no answers later
        return 0, 0.0
    shares = rates / rates.mean(axis=1, keepdims=True)
    profile = shares.mean(axis=0)
    cut = int(np.argmin([profile[cut:].var() / (count - cut) for cut in range(count // 2 + 1)]))
    losses = (1 - shares[:, :cut] / shares[:, cut:].mean(axis=1, keepdims=True)).sum(axis=1) / count
    loss = float(np.median(losses))
    shown = cut and abs(loss) >= LEAST_LOSS and sign_flip_p(losses) <= STEADY_ALPHA
    return (cut, loss) if shown else (0, 0.0)
