"""Slow twins of the judged numbers of groups/: rows are compared one by one."""

from __future__ import annotations

from itertools import combinations
from math import comb, hypot

from naive.definitions import wilson
from naive.groups import household_risks, minimal_sample_uniques
from naive.judged import Judged, rate


def equal(row, other, names) -> bool:
    """Missing is a value of its own."""
    return all(row[name] == other[name] for name in names)


def matches(original, released, truth, names) -> tuple[list[float], list[int]]:
    """Credit of guessing among the records that carry a person's values, and how many they are."""
    credits_, crowds = [], []
    for row, own in zip(original, truth, strict=True):
        same = [j for j, other in enumerate(released) if equal(row, other, names)]
        credits_.append(1 / len(same) if own in same else 0.0)
        crowds.append(len(same))
    return credits_, crowds


def shared(credits_, chance) -> Judged:
    """Mean credit with the score interval, shared or not."""
    n, hits = len(credits_), sum(credits_)
    return Judged(hits / n, chance, n, *wilson(hits, n))


def special(original, released, truth, names) -> tuple[list[float], list[bool]]:
    """Credit among the records that some minimal unique of up to three attributes picks out for the person."""
    rows = [tuple(r[name] for name in names) for r in released]
    uniques = minimal_sample_uniques(rows, min(3, len(names)))
    credits_, claimed = [], []
    for row, own in zip(original, truth, strict=True):
        fit = {j for j, at in uniques if all(row[names[a]] == rows[j][a] for a in at)}
        credits_.append(1 / len(fit) if own in fit else 0.0)
        claimed.append(bool(fit))
    return credits_, claimed


def promises(original, released, truth, names) -> dict[tuple[str, ...], float]:
    """For each set of up to three attributes: groups in the release times what masking left of each attribute."""
    left = {name: left_of(original, released, truth, name) for name in names}
    found = {}
    for size in range(1, min(3, len(names)) + 1):
        for chosen in combinations(names, size):
            promise = float(len({tuple(r[name] for name in chosen) for r in released}))
            for name in chosen:
                promise *= left[name]
            found[chosen] = promise
    return found


def left_of(original, released, truth, name) -> float:
    """Share of people whose record still has their value, beyond any record's; 0 within three standard errors."""
    pairs = [(row[name], released[own][name]) for row, own in zip(original, truth, strict=True) if own is not None]
    n = len(pairs)
    kept = sum(a == b for a, b in pairs) / n
    luck = sum(a == b for a, _ in pairs for _, b in pairs) / n**2
    return kept - luck if kept - luck > 3 * (luck * (1 - luck) / n) ** 0.5 else 0.0


def closeness(guess, reach, amounts) -> float:
    """Share of all people to whose amount the guess is close; 0 where nothing is guessed."""
    return sum(x > 0 and abs(guess - x) < reach * x for x in amounts) / len(amounts) if guess > 0 else 0.0


def blind_amounts(original, released, truth, names, amount) -> tuple[list[float], list[float]]:
    """How often the insider's and the outsider's guess would be close for anybody."""
    amounts = [abs(row[amount] or 0.0) for row in original]
    inside, outside = [], []
    for i, row in enumerate(original):
        total = sum(abs(r[amount] or 0.0) for r in released if equal(row, r, names))
        others = [
            amounts[k]
            for k, other in enumerate(original)
            if k != i and truth[k] is not None and equal(row, other, names)
        ]
        inside.append(closeness(total - max(others, default=0.0), 0.10, amounts))
        outside.append(closeness(total, 0.15 / 0.85, amounts))
    return inside, outside


def households(risks, homes, chance) -> Judged:
    """Found with anybody of the household; a blind guess has one try for each member."""
    blind = [1 - (1 - chance) ** (1 if home is None else homes.count(home)) for home in homes]
    return rate(household_risks(risks, homes), sum(blind) / len(blind))


def expected_share(f, total_weight) -> float:
    """E(1/F | f), F negative binomial: by its sum."""
    p, risk = min(1.0, f / total_weight), 0.0
    for h in range(f, 20_000):
        term = comb(h - 1, f - 1) * p**f * (1 - p) ** (h - f) / h if h < 900 or f == 1 else 0.0
        risk += term
    return risk


def widened(judged, share, tau) -> Judged:
    """Ends that also hold how far the number of right links of the sample uniques may be off: the squares add."""
    down = hypot(judged.value - judged.low, share * (tau.value - tau.low))
    up = hypot(judged.high - judged.value, share * (tau.high - tau.value))
    return judged._replace(low=max(0.0, judged.value - down), high=min(1.0, judged.value + up))


def small_groups(credits_, crowds, k) -> tuple[float, float, float]:
    """Share of people whose risk is above 1/k: at least, as far as can be seen, at most."""
    seen = [(credit > 0, crowd) for credit, crowd in zip(credits_, crowds, strict=True) if crowd > 0]
    small = [(own, crowd) for own, crowd in seen if crowd < k]
    if not small:
        return 0.0, 0.0, 0.0
    right, everywhere = sum(own for own, _ in small), sum(own for own, _ in seen)
    low, high = wilson(right, len(small))
    if small and right / len(small) >= everywhere / len(seen):
        low = max(low, wilson(everywhere, len(seen))[0])
    shares = (low, right / max(1, len(small)), high)
    return tuple(sum(own and share / crowd > 1 / k for own, crowd in small) / len(crowds) for share in shares)
