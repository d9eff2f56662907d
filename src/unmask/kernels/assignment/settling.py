"""Exact prices from nearly exact ones, where the matching is the best one already.

After two or three phases of the auction the matching is most often the best, and only its prices are off by some
epsilons: further phases make the same matching anew, each with prices a tenth as far off. In an optimal dual nobody
prefers another object to what they hold. So whoever does lowers the price of what they hold until they no longer do,
which may concern others who hold what is dear to them now; and so on. In the best matching no lowering comes back to
where it began, so it ends, with prices that are exact to rounding (Bellman and Ford's shortest paths). In any other
matching it goes round in a circle, and is given up.

Only listed candidates are looked at. Whether the prices prove the matching is for the certificate to say.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.assignment.allocation import holdings
from unmask.kernels.assignment.candidates import Lists
from unmask.kernels.assignment.forward_reverse import Side
from unmask.kernels.base import Floats, Ints
from unmask.kernels.compiling import lean

_SWEEPS = 200  # over all bidders; those that end take 10 to 40
_BACK = 4  # sweeps after which fewer prices must fall: where they do not, a lowering goes round
_ROUNDING = 1e-15  # of the largest number: a lowering by less is none


def settled_prices(side: Side) -> Floats | None:
    """Prices at which nobody prefers a candidate to what they hold; None if the matching seems not to be the best."""
    holder, item, _, cost = holdings(side.state)
    order = np.argsort(holder, kind="stable")
    holder, item, cost = holder[order], item[order], cost[order]
    price = side.state.price.copy()
    least = _ROUNDING * max(float(np.abs(price).max()), float(cost.max()))
    fallen = np.zeros(_SWEEPS, np.int64)
    return price if _settle(side.lists, (holder, item, cost), price, least, fallen) else None


@lean
def _settle(lists: Lists, held: tuple[Ints, Ints, Floats], price: Floats, least: float, fallen: Ints) -> bool:
    """Sweep over the bidders, who come one after the other in what is held, until no price falls."""
    holder, item, cost = held
    for sweep in range(fallen.shape[0]):
        k = 0
        while k < holder.shape[0]:
            i, first, dual = holder[k], k, np.inf
            while k < holder.shape[0] and holder[k] == i:
                dual = min(dual, cost[k] + price[item[k]])
                k += 1
            for c in range(lists.start[i], lists.start[i] + lists.length[i]):
                dual = min(dual, lists.cost[c] + price[lists.item[c]])
            for h in range(first, k):
                if dual - cost[h] < price[item[h]] - least:
                    price[item[h]] = dual - cost[h]
                    fallen[sweep] += 1
        if not fallen[sweep]:
            return True
        if sweep >= _BACK and fallen[sweep] >= fallen[sweep - _BACK]:
            return False
    return False
