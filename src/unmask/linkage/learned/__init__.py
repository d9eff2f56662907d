"""The distance that re-identifies best, learnt from people whose record is known.

`link_learned` learns weights of attributes on some people and attacks the others; `worst_case` learns on those whom it
attacks, the upper bound of any weighted distance.
"""

from unmask.linkage.learned.measure import link_learned, worst_case

__all__ = ["link_learned", "worst_case"]
