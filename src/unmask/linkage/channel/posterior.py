"""From scores to links: the posterior of each link under one record per person, and the most likely matching."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROUNDS = 60
QUICK_ROUNDS = 6
SETTLED = 1e-4
LOWEST = -600.0
SHARPER, SHARPER_ROUNDS = 5, 3  # steps from Sinkhorn's shares, and rounds of normalising in each
PRICES = ((10.0, 12), (100.0, 20), (1000.0, 40))  # sharpness, and rounds of normalising at it
SURE = 1e-6  # what is left of a doubt at least


def information(scores: Floats) -> Floats:
    """For each person how much better than chance the true record (on the diagonal) is foretold, in nats.

    Under one record per person, by a few rounds of normalising rows and columns: p(y) says nothing about who it is.
    """
    n = len(scores)
    work = scores - scores.max(0)
    work -= work.max(1, keepdims=True)
    kernel = np.exp(work)
    column = np.ones(n)
    row = np.ones(n)
    for _ in range(QUICK_ROUNDS):
        row = 1.0 / np.maximum(kernel @ column, 1e-300)
        column = 1.0 / np.maximum(row @ kernel, 1e-300)
    row = 1.0 / np.maximum(kernel @ column, 1e-300)
    return np.asarray(np.diagonal(work) + np.log(row) + np.log(column) + np.log(n))


def one_to_one_posterior(scores: Floats) -> Floats:
    """Posterior of every link when each person has one record and each record one person.

    Rows and columns of exp(scores) are normalised in turn until they no longer change (Sinkhorn). That is too modest:
    a few steps of fractional belief propagation, p (1 - p)^(1/2) = u_i v_j exp(score), follow, exact for two people and
    two records. Where the files have different sizes, those too many on one side have nobody on the other: who that is,
    the scores of 0 of an average pair decide.
    """
    n_people, n_records = scores.shape
    work = np.asarray(scores, dtype=np.float64)
    by_record = work.max(0)
    work = work - by_record
    by_person = work.max(1)
    work -= by_person[:, None]
    kernel = np.exp(np.maximum(work, LOWEST, out=work), out=work)
    spare = max(0, n_records - n_people), max(0, n_people - n_records)
    nobody, nowhere = np.exp(np.clip(-by_record, LOWEST, 300.0)), np.exp(np.clip(-by_person, LOWEST, 300.0))
    share, nobody, nowhere = _normalised(kernel, nobody, nowhere, spare, ROUNDS)
    result = share
    for rounds in (*(SHARPER_ROUNDS,) * SHARPER, ROUNDS):
        raised = share / np.sqrt(np.maximum(1.0 - result, SURE))
        result, _, _ = _normalised(raised, nobody, nowhere, spare, rounds)
    return result


def _normalised(
    kernel: Floats, nobody: Floats, nowhere: Floats, spare: tuple[int, int], rounds: int
) -> tuple[Floats, Floats, Floats]:
    """Scale rows and columns to sums of one, in place; ``spare``: people and records that are not in their file."""
    row, column = np.ones(kernel.shape[0]), np.ones(kernel.shape[1])
    ours = theirs = 0.0
    for _ in range(rounds):
        if spare[0]:
            ours = spare[0] / float(nobody @ column)
        row = 1.0 / np.maximum(kernel @ column + nowhere * theirs, 1e-300)
        fresh = 1.0 / np.maximum(row @ kernel + nobody * ours, 1e-300)
        if spare[1]:
            theirs = spare[1] / float(nowhere @ row)
        change = float(np.max(np.abs(np.log(fresh) - np.log(column))))
        column = fresh
        if change < SETTLED:
            break
    row = 1.0 / np.maximum(kernel @ column + nowhere * theirs, 1e-300)
    kernel *= column
    kernel *= row[:, None]
    return kernel, nobody * column, nowhere * row


def plain_posterior(scores: Floats) -> Floats:
    """Posterior of every link of a person by itself: records compete, people do not (they were not all asked for)."""
    kernel = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(kernel / kernel.sum(1, keepdims=True))


def most_likely_matching(scores: Floats) -> Ints:
    """Record of each person in the matching of largest total score; -1: none, where there are fewer records."""
    if scores.shape[0] == scores.shape[1]:
        scores = _levelled(scores)
    rows, cols = linear_sum_assignment(scores, maximize=True)
    links = np.full(scores.shape[0], -1)
    links[rows] = cols
    return links


def _levelled(scores: Floats) -> Floats:
    """The scores less what a person or a record has in all of theirs: each matching loses the same, so none gains.

    Prices of a few rounds of normalising, ever sharper, are near those of the best matching, which is then found much
    sooner: where many score alike, in a fifth of the time.
    """
    level, work = scores.copy(), np.empty_like(scores)
    for sharpness, rounds in PRICES:
        np.multiply(level, sharpness, out=work)
        by_record = work.max(0)
        work -= by_record
        by_person = work.max(1)
        work -= by_person[:, None]
        kernel, column = np.exp(np.maximum(work, LOWEST, out=work), out=work), np.ones(scores.shape[1])
        for _ in range(rounds):
            row = 1.0 / np.maximum(kernel @ column, 1e-300)
            column = 1.0 / np.maximum(row @ kernel, 1e-300)
        level += ((np.log(row) - by_person) / sharpness)[:, None]
        level += (np.log(column) - by_record) / sharpness
    return level
