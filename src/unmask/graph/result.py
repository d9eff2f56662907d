"""What a graph attack claims: a class for each family of methods, as they know different things about a claim."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from unmask.arrays import Flags, Floats, Ints
from unmask.graph.null import Calibration
from unmask.graph.problem import Task
from unmask.shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphLinkage(Shown, ABC):
    """Who was found. Pairs are rows of the two files as they were given; without a claim there are none."""

    pairs: Ints  # (k, 2): row of the target file, row of the identification file
    belief: Floats  # (k,): in each pair, as far as the attack can tell; not a number where it cannot
    n_agree: float  # how many people agree with each other: what chance is asked about
    method: Literal["exact", "seeds", "geometric", "votes"]
    why: str  # why this method, and what the null said
    n_target: int
    n_identification: int
    null: Calibration | None

    @property
    @abstractmethod
    def summary(self) -> str:
        """What was found, in a sentence."""

    @property
    def found(self) -> bool:
        """Whether anything is claimed."""
        return len(self.pairs) > 0

    @property
    def sure(self) -> Self:
        """Only the claims that are more likely right than wrong, as far as the attack can tell."""
        return self.only(self.belief > 0.5)

    def only(self, keep: Flags) -> Self:
        """Some of the claims."""
        return replace(self, pairs=self.pairs[keep], belief=self.belief[keep])

    def hits(self, truth: Ints) -> int:
        """TP: claims that are right. ``truth``: (k, 2), rows of both files that belong to one person."""
        return len(keys(self.pairs) & keys(truth))

    def precision(self, truth: Ints) -> float:
        """TP / (TP + FP); not a number when nothing is claimed."""
        return self.hits(truth) / len(self.pairs) if self.found else math.nan

    def recall(self, truth: Ints) -> float:
        """TP / (TP + FN); not a number when the files share nobody."""
        return self.hits(truth) / len(truth) if len(truth) else math.nan

    def exposure(self, truth: Ints) -> Floats:
        """Risk of each identification record: its true match's share of the claims made on it (ties are shared)."""
        claims = np.bincount(self.pairs[:, 1], minlength=self.n_identification)
        risk = np.zeros(self.n_identification)
        for _, row in keys(self.pairs) & keys(truth):
            risk[row] = 1.0 / claims[row]
        return risk

    def _claimed(self, how: str) -> str:
        if not self.found:
            return f"Nothing found: no pair is claimed among {self.n_target:,} x {self.n_identification:,} records."
        return f"{len(self.pairs):,} pairs claimed: {how}."


@dataclass(frozen=True, slots=True, kw_only=True)
class CliqueLinkage(GraphLinkage):
    """Methods exact and seeds: the union of the largest cliques met. Claims on one record share the belief in it."""

    n_cliques: int  # maximum cliques met: more may exist (ties), one is certain when there are no ties and exact
    exact: bool  # True: proven, size and union
    gamma: float | None = None  # pairs that agree with this share of the union were added

    @property
    def clique_size(self) -> int:
        """Order of the largest approximate common subgraph found."""
        return int(self.n_agree)

    @property
    def ties(self) -> int:
        """Claims beyond one maximum clique: the price of taking the union (and what gamma added)."""
        return max(0, len(self.pairs) - self.clique_size)

    @property
    def summary(self) -> str:
        """How many agree with each other, and whether that is proven to be the most."""
        proof = "proven to be the largest" if self.exact else "not proven to be the largest"
        ties = f"; {self.ties:,} more from ties{' and by gamma' * (self.gamma is not None)}" if self.ties else ""
        return self._claimed(f"{self.clique_size:,} agree with each other, {proof}{ties}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MapLinkage(GraphLinkage):
    """Method geometric: one map laid over the other.

    People agree who lie on their partner: above even odds or, where everybody is guessed, within three times the noise.
    """

    @property
    def posterior(self) -> Floats:
        """Probability of each pair, nobody being matched twice."""
        return self.belief

    @property
    def summary(self) -> str:
        """How many agree on the map, and how many claims are sure."""
        return self._claimed(
            f"{self.n_agree:,} agree on the map, {len(self.sure.pairs):,} more likely right than wrong"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteLinkage(GraphLinkage):
    """Method votes: a clique is believed, and votes on everybody else. A guess has no belief of its own.

    As many distances agree among those who are believed as among ``n_agree`` people who all agree.
    """

    @property
    def is_seed(self) -> Flags:
        """(k,): claims of the clique that it began with; the others are guesses."""
        return np.isfinite(self.belief)

    @property
    def summary(self) -> str:
        """How many claims are of the clique, and that the others are guesses."""
        return self._claimed(f"{int(self.is_seed.sum()):,} agree with each other, the others are the best guesses")


Kind = TypeVar("Kind", bound=GraphLinkage)


def answer(
    task: Task, kind: type[Kind], match: tuple[Any, Any], null: Calibration | None, belief: Floats, why: str,
    **known: Any,  # noqa: ANN401  # the other fields of its class
) -> Kind:  # fmt: skip
    """Claim matches of kernel records, none if chance finds as much."""
    rows, cols = task.problem.order1[match[0]], task.problem.order2[match[1]]
    order = np.lexsort((cols, rows)) if null is None or null.significant else np.zeros(0, dtype=np.int64)
    return kind(
        pairs=np.column_stack([rows, cols]).astype(np.int64)[order], belief=belief[order], why=_judged(why, null),
        n_target=task.problem.target.n, n_identification=task.problem.identification.n, null=null, **known,
    )  # fmt: skip


def shared_belief(rows: NDArray[Any], cols: NDArray[Any]) -> Floats:
    """Claims on one record share the belief in it."""
    return np.asarray(1.0 / np.maximum(np.bincount(rows)[rows], np.bincount(cols)[cols]))


def _judged(why: str, null: Calibration | None) -> str:
    if null is None:
        return f"{why}; not calibrated"
    verdict = "" if null.significant else "nothing found: "
    chance = f"{max(null.sizes):g} in {len(null.sizes)} draws"
    return f"{verdict}{why}; {null.observed:g} against a null of {chance}, p = {null.p_value:.3g}"


def keys(pairs: Ints) -> set[tuple[int, int]]:
    """Pairs as a set."""
    return {(int(a), int(b)) for a, b in np.asarray(pairs).reshape(-1, 2)}
