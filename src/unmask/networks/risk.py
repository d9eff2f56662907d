"""All attacks on a published network, and what they found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.errors import NothingToTryError
from unmask.evidence import Progress, silent
from unmask.networks.network import Network
from unmask.networks.profiles import ProfileMatch, attack_without_seeds
from unmask.networks.propagation import SEEDS, Propagation, attack_from_seeds
from unmask.networks.signatures import Candidates, Refinement, Signatures, signatures
from unmask.shown import Shown


@dataclass(frozen=True, slots=True)
class NetworkRisk(Shown):
    """Who is found in a published network, by each attack. Credits are of people who are in both networks."""

    keys: ClassVar[tuple[str, ...]] = (
        "degree.rate", "degree.small", "neighbours.rate", "neighbours.small", "colours.rate", "colours.small",
        "propagation.rate", "propagation.known", "profiles.rate", "profiles.known",
    )  # fmt: skip

    network: Network = field(repr=False)
    signatures: Signatures = field(repr=False)
    propagation: Propagation | None = field(repr=False)  # None: too few people to know some of them
    profiles: ProfileMatch = field(repr=False)
    seed: int

    @property
    def neighbours(self) -> tuple[tuple[str, Candidates], ...]:
        """What can be known of the people around a person, in words, and the candidates by it."""
        found = self.signatures
        return (
            ("the numbers of ties of their friends", found.friends),
            ("those of the friends of their friends too", found.friends_of_friends),
            ("the ties among their friends", found.neighbourhood),
        )

    @property
    def colours(self) -> tuple[Refinement, int]:
        """The refinement, and the round of it, that finds most people."""
        ways = [(way, i) for way in self.signatures.refinements for i in range(len(way.rounds))]
        return max(ways, key=lambda one: (round(float(one[0].rounds[one[1]].credit.mean()), 12), -one[1]))

    def credits(self) -> dict[str, Floats]:
        """For each attack, of everybody in the original: the share of it that finds them; NaN: not in the release."""
        way, depth = self.colours
        best = max((found for _, found in self.neighbours), key=lambda found: round(float(found.credit.mean()), 12))
        found = {
            "degree": self.signatures.degree.credit, "neighbours": best.credit, "colours": way.rounds[depth].credit,
            "profiles": self.profiles.credit,
        }  # fmt: skip
        there, everybody = self.network.there, {}
        for name, credit in found.items():
            everybody[name] = np.full(there.size, np.nan)
            everybody[name][there] = credit
        if self.propagation is not None:
            everybody["propagation"] = self.propagation.credit
        return everybody

    def shares(self) -> dict[str, float]:
        """The share of people that each attack finds."""
        return {name: float(np.nanmean(credit)) for name, credit in self.credits().items()}

    def risks(self) -> tuple[Floats, str]:
        """The risk of everybody by the attack that finds most of those it looks for, and its name.

        Whom it never looks for, as they are known beforehand in its only draw, have that of the best other attack.
        """
        shares, found = self.shares(), self.credits()
        best = max(shares, key=lambda name: (round(shares[name], 12), name))
        others = np.max([np.nan_to_num(credit) for credit in found.values()], axis=0)
        unasked = np.isnan(found[best]) & self.network.there
        return np.where(unasked, others, found[best]), best

    def to_frame(self) -> pl.DataFrame:
        """One row a person of the original, in the order of ids: what each attack made of them, and their risk."""
        rows, ids = np.arange(1, self.network.own.size + 1), self.network.original.ids
        found = pl.DataFrame({"row": rows, "id": ids, **self.credits(), "risk": self.risks()[0]})
        return found.with_columns(pl.all().exclude("row", "id").fill_nan(None))


def network_risk(network: Network, *, seeds: int = SEEDS, seed: int = 0, progress: Progress = silent) -> NetworkRisk:
    """Attack a published network by signatures, from known people, and without any.

    Parameters
    ----------
    network
        The original and the released network.
    seeds
        How many people the intruder knows beforehand, for propagation; at most a fifth of those in both networks.
    seed
        Every random choice follows from it.
    progress
        Called with the share done and words.

    """
    found = signatures(network, lambda done, words: progress(0.2 * done, words))
    try:
        from_seeds = attack_from_seeds(
            network, seeds=seeds, seed=seed, progress=lambda done, words: progress(0.2 + 0.6 * done, words)
        )
    except NothingToTryError:
        from_seeds = None
    alone = attack_without_seeds(network, seed=seed, progress=lambda done, words: progress(0.8 + 0.2 * done, words))
    return NetworkRisk(network, found, from_seeds, alone, seed)
