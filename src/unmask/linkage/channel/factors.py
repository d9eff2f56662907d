"""Factors of the channel: what one released column says about which person a record was made from.

Every factor answers ``log(i, j)``: the log likelihood ratio of record j being made from person i rather than from
anybody. People and records are arrays of row numbers that broadcast, so that one code scores whole tables
(``i[:, None], j``) and lists of candidates (``i[:, None], lists[i]``). 0 says nothing either way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel.residuals import Law

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAST = 1e-12


class Factor(Protocol):
    """Evidence of one released column."""

    def log(self, i: Ints, j: Ints) -> Floats:
        """Log likelihood ratio of record j for person i; the arrays broadcast."""
        ...


@dataclass(frozen=True, slots=True)
class States:
    """What a cell is (a value, missing, zero, a word) as evidence: q(state of y | state of x) over its marginal."""

    person: Ints
    record: Ints
    table: Floats

    def log(self, i: Ints, j: Ints) -> Floats:
        """Log likelihood ratio of the states alone."""
        return self.table[self.person[i], self.record[j]]


def fit_states(person: Ints, record: Ints, taught: Ints, made: Ints) -> States:
    """Count states of known people, shrunk to the marginal by one person's weight."""
    rows, cols = int(person.max()) + 1, int(record.max()) + 1
    marginal = np.bincount(record, minlength=cols) / record.size
    counts = np.bincount(person[taught] * cols + record[made], minlength=rows * cols).reshape(rows, cols)
    shrunk = (counts + marginal) / (counts.sum(1, keepdims=True) + 1.0)
    return States(person, record, np.log(np.maximum(shrunk, LEAST) / np.maximum(marginal, LEAST)))


@dataclass(frozen=True, slots=True)
class Residual:
    """A released number near a predicted one: the law of their difference over the marginal of the released."""

    predicted: Floats  # per person; NaN: none
    value: Floats  # per record, in the same space; NaN: none
    marginal: Floats  # log density of each record's value among all records
    law: Law
    states: States
    precision: Floats | None = None  # per person: one over the scale of the residual

    def log(self, i: Ints, j: Ints) -> Floats:
        """Score the states, and the values where there are both."""
        gap = self.value[j] - self.predicted[i]
        scale = None if self.precision is None else self.precision[i]
        body = self.law.log(gap if scale is None else gap * scale) - self.marginal[j]
        if scale is not None:
            body += np.log(scale)
        absent = np.isnan(gap)
        if absent.any():
            body[absent] = 0.0
        return body + (self.states.log(i, j) if self.states.table.size > 1 else self.states.table[0, 0])


@dataclass(frozen=True, slots=True)
class Given:
    """A residual given another's: where both columns have values their joint law, else the column's own."""

    own: Residual
    joint: Residual

    def log(self, i: Ints, j: Ints) -> Floats:
        """Score the remainder where it exists."""
        missing = np.isnan(self.joint.value[j] - self.joint.predicted[i])
        return np.where(missing, self.own.log(i, j), self.joint.log(i, j))


@dataclass(frozen=True, slots=True)
class Table:
    """A released label given a code of the person."""

    person: Ints
    record: Ints
    table: Floats

    def log(self, i: Ints, j: Ints) -> Floats:
        """Look up the pair."""
        return self.table[self.person[i], self.record[j]]


@dataclass(frozen=True, slots=True)
class Labels:
    """A released label that is one of two foretold ones (equal where there is one), or any with a small chance.

    q(y | x) = (1 - e) (w [y = first] + (1 - w) [y = second]) + e p(y), where e may differ between people for whom the
    two agree and others.
    """

    first: Ints  # per person; -1: nothing is foretold
    second: Ints
    weight: Floats  # of the first
    error: Floats  # per person
    record: Ints  # label of each record, missing being a label of its own
    rarity: Floats  # 1 / p(label), per record

    def log(self, i: Ints, j: Ints) -> Floats:
        """Score the label of each record."""
        label, first = self.record[j], self.first[i]
        error, weight = self.error[i], self.weight[i]
        said = np.where(label == first, weight, 0.0) + np.where(label == self.second[i], 1.0 - weight, 0.0)
        score = np.log((1.0 - error) * said * self.rarity[j] + error)
        return np.asarray(np.where(first < 0, 0.0, score))


@dataclass(frozen=True, slots=True)
class Choices:
    """A released label that is one of several foretold ones, some oftener than others, or any with a small chance."""

    foretold: Ints  # (ways, people)
    weight: Floats  # per way
    error: Floats  # per person
    record: Ints
    rarity: Floats  # 1 / p(label), per record

    def log(self, i: Ints, j: Ints) -> Floats:
        """Score the label of each record."""
        label = self.record[j]
        said = sum(
            np.where(label == way[i], weight, 0.0) for way, weight in zip(self.foretold, self.weight, strict=True)
        )
        error = self.error[i]
        return np.asarray(np.log((1.0 - error) * said * self.rarity[j] + error))


@dataclass(frozen=True, slots=True)
class Inside:
    """A released interval that contains the person's value, or not; at one of its ends, or between them."""

    value: Floats  # per person; NaN: none
    low: Floats  # per record; NaN: no interval
    high: Floats  # the first number beyond it
    told: Floats  # how much more often than chance a true value is at the low end, between, at the high end
    error: float

    def log(self, i: Ints, j: Ints) -> Floats:
        """Score containment."""
        value, low = self.value[i], self.low[j]
        place = ends(value, low, self.high[j])
        ratio = np.choose(np.maximum(place, 0), [told[j] for told in self.told])
        score = np.log(np.where(place >= 0, (1.0 - self.error) * ratio, 0.0) + self.error)
        return np.asarray(np.where(np.isnan(value + low), 0.0, score))


def ends(value: Floats, low: Floats, high: Floats) -> Ints:
    """Where a value is: 0 at the low end, 1 between, 2 at the high end, -1 outside."""
    inside = (value >= low) & (value < high)
    place = np.where(value == low, 0, np.where(np.nextafter(value, np.inf) >= high, 2, 1))
    return np.where(inside, place, -1)


@dataclass(frozen=True, slots=True)
class Sum:
    """Several factors that say different things of one column, such as those of its pieces."""

    factors: tuple[Factor, ...]

    def log(self, i: Ints, j: Ints) -> Floats:
        """Add them."""
        return np.asarray(sum((factor.log(i, j) for factor in self.factors), np.zeros(np.broadcast(i, j).shape)))
