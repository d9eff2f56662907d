"""The blind intruder who fits the noise: `link_likelihood` learns from two files alone how one was made."""

from unmask.linkage.likelihood.measure import LikelihoodLinkage, assess_likelihood, link_likelihood

__all__ = ["LikelihoodLinkage", "assess_likelihood", "link_likelihood"]
