"""The blind intruder who fits the noise.

`link_likelihood` learns from the two files alone, without one known pair, how each attribute was changed, and links by
how likely every record is to have been made from every person; a `LikelihoodLinkage` is what was found.
"""

from unmask.linkage.likelihood.measure import LikelihoodLinkage, link_likelihood

__all__ = ["LikelihoodLinkage", "link_likelihood"]
