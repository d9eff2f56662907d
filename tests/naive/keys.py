"""Keys in a synthetic table, by the definitions, person by person (METHODS.md section 14)."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb


def shares(people, rows, keys, target):
    """Each figure as a share of the people; people and rows are lists of dicts."""
    count = dict.fromkeys(("UiO", "repU", "iS", "DiS", "DiSCO", "DiSDiO"), 0)
    caps = []
    for person in people:
        mine = tuple(person[key] for key in keys)
        alike = [other for other in people if tuple(other[key] for key in keys) == mine]
        there = [row for row in rows if tuple(row[key] for key in keys) == mine]
        count["UiO"] += len(alike) == 1
        count["repU"] += len(alike) == 1 and len(there) == 1
        count["iS"] += len(there) > 0
        told = {row[target] for row in there}
        disclosed = len(told) == 1
        correct = disclosed and person[target] in told
        count["DiS"] += disclosed
        count["DiSCO"] += correct
        count["DiSDiO"] += correct and len({other[target] for other in alike}) == 1
        caps.append(sum(row[target] == person[target] for row in there) / len(there) if there else None)
    found = {name: number / len(people) for name, number in count.items()}
    known = [cap for cap in caps if cap is not None]
    found["DCAP"] = sum(known) / len(people)
    found["DCAP of those present"] = sum(known) / len(known) if known else float("nan")
    found |= more(people, rows, keys, target)
    found["TCAP"] = count["DiSCO"] / count["DiS"] if count["DiS"] else float("nan")
    return found


def more(people, rows, keys, target):
    """The same of the original in itself, and of the release in itself."""

    def with_keys(table, one):
        return [other for other in table if all(other[key] == one[key] for key in keys)]

    def cap(table, one):
        alike = with_keys(table, one)
        return sum(other[target] == one[target] for other in alike) / len(alike)

    n = len(people)
    alone = [person for person in people if len(with_keys(people, person)) == 1]
    return {
        "UiOiS": sum(bool(with_keys(rows, person)) for person in alone) / n,
        "UiS": sum(len(with_keys(rows, row)) == 1 for row in rows) / len(rows),
        "Dorig": sum(cap(people, person) == 1 for person in people) / n,
        "Dsyn": sum(cap(rows, row) == 1 for row in rows) / len(rows),
        "CAP of the target alone": sum(sum(other[target] == person[target] for other in people) for person in people)
        / n**2,
        "CAP of the original": sum(cap(people, person) for person in people) / n,
        "WEAP": sum(cap(rows, row) for row in rows) / len(rows),
    }


def synthpop(people, rows, keys, target):
    """Figures of synthpop's disclosure(), in percent with two digits, by its tables of target and keys."""

    def table(records):
        cells = {}
        for record in records:
            cell = (tuple(record[key] for key in keys), record[target])
            cells[cell] = cells.get(cell, 0) + 1
        return cells

    ktd, kts = table(people), table(rows)
    levels = {q for q, _ in (*ktd, *kts)}
    kd, ks = ({q: sum(n for (k, _), n in t.items() if k == q) for q in levels} for t in (ktd, kts))
    nd, ns = len(people), len(rows)

    def sure(t, total, cell):
        return cell in t and t[cell] == total[cell[0]]

    disco = {cell: n for cell, n in ktd.items() if sure(kts, ks, cell)}
    dis = sum(n for (q, _), n in ktd.items() if any(sure(kts, ks, (k, t)) for k, t in kts if k == q))
    right = sum(n * kts.get((q, t), 0) / ks[q] for (q, t), n in ktd.items() if ks[q])
    both, targets = sum(ks[q] for q in levels if kd[q]), {t for _, t in ktd}
    out = {
        "UiO": sum(n == 1 for n in kd.values()) / nd,
        "UiS": sum(n == 1 for n in ks.values()) / ns,
        "UiOiS": sum(kd[q] == 1 and ks[q] > 0 for q in levels) / nd,
        "repU": sum(kd[q] == 1 and ks[q] == 1 for q in levels) / nd,
        "Dsyn": sum(n for cell, n in kts.items() if sure(kts, ks, cell)) / ns,
        "Dorig": sum(n for cell, n in ktd.items() if sure(ktd, kd, cell)) / nd,
        "iS": sum(n for (q, _), n in ktd.items() if ks[q]) / nd,
        "DiS": dis / nd,
        "DiSCO": sum(disco.values()) / nd,
        "DiSDiO": sum(n for cell, n in disco.items() if sure(ktd, kd, cell)) / nd,
        "DCAPd": right / nd,
        "DCAPs": right / ns,
        "DCAPb": right / both if both else float("nan"),
        "baseCAPd": sum(sum(n for (_, t), n in ktd.items() if t == level) ** 2 for level in targets) / nd**2,
        "CAPd": sum(n * n / kd[q] for (q, _), n in ktd.items()) / nd,
        "CAPs": sum(n * n / ks[q] for (q, _), n in kts.items()) / ns,
        "TCAP": sum(disco.values()) / dis if dis else float("nan"),
        "TCAPs": sum(disco.values()) / ns,
        "TCAPb": sum(disco.values()) / both if both else float("nan"),
    }
    return {name: round(100 * value, 2) for name, value in out.items()}


def clustered(gains, crowds):
    """Mean gain and half the width of its interval: people of one crowd are one draw."""
    n, sums = len(gains), {}
    for gain, crowd in zip(gains, crowds, strict=True):
        sums[crowd] = sums.get(crowd, 0.0) + gain
    return sum(gains) / n, 1.959963984540054 * sum(one**2 for one in sums.values()) ** 0.5 / n


def worst_keys(people, rows, columns, target):
    """The keys of up to three columns, or all of them, that tell most of the people; of equals the fewest."""
    sets = [chosen for size in (1, 2, 3) for chosen in combinations(sorted(columns), size)]
    told = [(shares(people, rows, keys, target), keys) for keys in dict.fromkeys([*sets, tuple(sorted(columns))])]
    best = max(told, key=lambda one: (round(one[0]["repU"] + one[0]["DiSCO"], 12), -len(one[1]), one[1]))
    return best[1]


def beyond_other_people(people, rows, keys, target):
    """What the release tells of each person beyond rows of other people: replicated uniques, right targets.

    Chances over all ways to cut the people in halves and to draw rows, by binomial coefficients.
    """
    gains, n, made = {"replicated": [], "correct": []}, len(people), len(rows)
    for person in people:
        alike = [other for other in people if all(other[key] == person[key] for key in keys)]
        there = [row for row in rows if all(row[key] == person[key] for key in keys)]
        wrong = sum(other[target] != person[target] for other in alike)
        false = sum(row[target] != person[target] for row in there)
        others, sums = len(alike) - 1, {"replicated": 0, "correct": 0}
        for half in (n // 2, n - n // 2):
            drawn = min(n - half, made)
            if not half or not drawn:
                continue
            weight, left = Fraction(half, n) * Fraction(made, drawn), n - half - drawn
            own = Fraction(comb(n - half, others), comb(n - 1, others))  # none of those alike in one's own half
            one_row = Fraction(len(there) * comb(made - len(there), drawn - 1), comb(made, drawn))
            one_other = Fraction(drawn * comb(left, others - 1), comb(n - 1, others)) if others else 0
            sums["replicated"] += weight * (own * one_row - one_other)
            by_rows = Fraction(comb(made - false, drawn) - comb(made - len(there), drawn), comb(made, drawn))
            by_others = Fraction(comb(n - 1 - wrong, drawn) - comb(n - 1 - others, drawn), comb(n - 1, drawn))
            sums["correct"] += weight * (by_rows - by_others)
        for name, gain in sums.items():
            gains[name].append(float(gain))
    crowds = [tuple(person[key] for key in keys) for person in people]
    return {name: clustered(gain, crowds) for name, gain in gains.items()}


def other_claims(people, rows, keys, target, rng, splits=10):
    """Claims that halves of the people make about the others; in the order of keys and target."""

    def order(row):
        return (*(row[key] for key in keys), row[target])

    people = sorted(people, key=order)
    n, claims = len(people), []
    for _ in range(splits):
        dealt = list(rng.permutation(n))
        for half, other in ((dealt[: n // 2], dealt[n // 2 :]), (dealt[n // 2 :], dealt[: n // 2])):
            others = [people[place] for place in other[: min(len(other), len(rows))]]
            claims += [(people[place], *claim(people[place], others, keys, target)) for place in half]
    return claims


def claim(person, rows, keys, target, most=6):
    """Rows with the keys of a person (at most so many), whether they agree on the target, and rightly."""
    there = [row[target] for row in rows if all(row[key] == person[key] for key in keys)]
    agree = len(set(there)) == 1
    return min(len(there), most), agree, agree and there[0] == person[target]


def surer(people, rows, claims, keys, target, splits=10):
    """Mean and standard error of what claims of the release have right beyond claims of others that agree alike."""
    n, crowds = len(people), {tuple(person[key] for key in keys) for person in people}
    blind = max(sum(person[target] == t for person in people) for t in {p[target] for p in people}) / n
    by = {m: [one for one in claims if one[1] == m and one[2]] for m in range(7)}
    usual = {m: (sum(right for *_, right in some) + splits * blind) / (len(some) + splits) for m, some in by.items()}
    asked = [claim(person, rows, keys, target) for person in people]
    gains = [right - made * usual[m] for m, made, right in asked]
    gain, variance = sum(gains) / n, 0.0
    for crowd in crowds:
        mine = [place for place, person in enumerate(people) if tuple(person[key] for key in keys) == crowd]
        part = sum(gains[place] - gain for place in mine) / n
        for m, some in by.items():
            weight = sum(made and at == m for at, made, _ in asked) / n / max(len(some), 1)
            theirs = [right for person, _, _, right in some if tuple(person[key] for key in keys) == crowd]
            part -= weight * sum(right - usual[m] for right in theirs)
        variance += part**2
    return gain, variance**0.5


def beyond_outside(people, rows, outside, keys, target):
    """Right targets of people beyond those of people outside, and half the width of the interval of crowds."""
    sides = [[claim(person, rows, keys, target)[2] for person in side] for side in (people, outside)]
    means = [sum(side) / len(side) for side in sides]
    parts = {}
    for sign, side, told, mean in zip((1, -1), (people, outside), sides, means, strict=True):
        for person, right in zip(side, told, strict=True):
            crowd = tuple(person[key] for key in keys)
            parts[crowd] = parts.get(crowd, 0.0) + sign * (right - mean) / len(side)
    return means, 1.959963984540054 * sum(part**2 for part in parts.values()) ** 0.5


def beyond_by_listing(people, rows, keys, target):
    """The same by listing every way to cut and to draw: for a handful of people."""
    n, total, ways = len(people), {"replicated": 0.0, "correct": 0.0}, 0
    for size in (n // 2, n - n // 2) if n % 2 else (n // 2,):
        for half in combinations(range(n), size):
            ways += 1
            other = [place for place in range(n) if place not in half]
            some = min(len(other), len(rows))
            if not some or not half:
                continue
            mine, scale = [people[place] for place in half], len(rows) / some
            for sign, side in ((1, rows), (-1, [people[place] for place in other])):
                draws = list(combinations(side, some))
                for place in half:
                    found = [_one(people[place], mine, drawn, keys, target) for drawn in draws]
                    for name, part in zip(total, zip(*found, strict=True), strict=True):
                        total[name] += sign * scale * sum(part) / len(draws)
    # each cut is listed once for an odd number of people, and for one of its two halves for an even one
    return {name: value * 2 / (ways * n) for name, value in total.items()}


def drawn_rows(people, rows, keys, target):
    """Expected shares by as many rows, each of whose columns is drawn by itself, by listing every table."""
    columns = [*keys, target]
    levels = {name: [row[name] for row in rows] for name in columns}
    all_rows = [dict(zip(columns, values, strict=True)) for values in product(*levels.values())]
    tables = list(product(all_rows, repeat=len(rows)))
    found = [shares(people, table, keys, target) for table in tables]
    names = ("UiOiS", "repU", "iS", "DiS", "DiSCO", "DiSDiO", "DCAP")
    return {name: sum(one[name] for one in found) / len(found) for name in names}


def tree_without(people, keys, target, place, edges, parent):
    """Chance of a person's keys in a row, and of their target then, by pairs of columns among the other people."""
    person, others = people[place], [other for number, other in enumerate(people) if number != place]

    def many(names):
        return sum(all(other[name] == person[name] for name in names) for other in others)

    def given(known, new):
        if known is None:
            return many([new]) / max(len(others), 1)
        return many([known, new]) / many([known]) if many([known]) else 0.0

    chance = given(None, keys[0])
    for known, new in edges:
        chance *= given(known, new)
    return chance, given(parent, target)


def _one(person, people, rows, keys, target):
    mine = tuple(person[key] for key in keys)
    alike = sum(tuple(other[key] for key in keys) == mine for other in people)
    there = [row[target] for row in rows if tuple(row[key] for key in keys) == mine]
    return alike == 1 and len(there) == 1, bool(there) and set(there) == {person[target]}
