"""Keys in a synthetic table, by the definitions, person by person (METHODS.md section 14)."""

from __future__ import annotations


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
    out = {
        "UiO": sum(n == 1 for n in kd.values()) / nd,
        "UiS": sum(n == 1 for n in ks.values()) / ns,
        "UiOiS": sum(kd[q] == 1 and ks[q] > 0 for q in levels) / nd,
        "repU": sum(kd[q] == 1 and ks[q] == 1 for q in levels) / nd,
        "Dorig": sum(n for cell, n in ktd.items() if sure(ktd, kd, cell)) / nd,
        "iS": sum(n for (q, _), n in ktd.items() if ks[q]) / nd,
        "DiS": dis / nd,
        "DiSCO": sum(disco.values()) / nd,
        "DiSDiO": sum(n for cell, n in disco.items() if sure(ktd, kd, cell)) / nd,
        "DCAP": sum(n * kts.get((q, t), 0) / ks[q] for (q, t), n in ktd.items() if ks[q]) / nd,
        "CAP of the original": sum(n * n / kd[q] for (q, _), n in ktd.items()) / nd,
        "WEAP": sum(n * n / ks[q] for (q, _), n in kts.items()) / ns,
        "TCAP": sum(disco.values()) / dis if dis else float("nan"),
    }
    return {name: round(100 * value, 2) for name, value in out.items()}


def clustered(gains, crowds):
    """Mean gain and half the width of its interval: people of one crowd are one draw."""
    n, sums = len(gains), {}
    for gain, crowd in zip(gains, crowds, strict=True):
        sums[crowd] = sums.get(crowd, 0.0) + gain
    return sum(gains) / n, 1.959963984540054 * sum(one**2 for one in sums.values()) ** 0.5 / n


def beyond_other_people(people, rows, keys, target, rng, splits=10):
    """What the release tells of each person beyond rows of other people: replicated uniques, right targets.

    Halves are drawn of people and rows in the order of target and keys, so that the order of rows says nothing.
    """

    def order(row):
        return (row[target], *(row[key] for key in keys))

    people, rows = sorted(people, key=order), sorted(rows, key=order)
    n, gains = len(people), {"replicated": [0.0] * len(people), "correct": [0.0] * len(people)}
    claims = []
    for _ in range(splits):
        dealt = list(rng.permutation(n))
        for half, other in ((dealt[: n // 2], dealt[n // 2 :]), (dealt[n // 2 :], dealt[: n // 2])):
            some = min(len(other), len(rows))
            drawn = [rows[place] for place in rng.permutation(len(rows))[:some]]
            others = [people[place] for place in other[:some]]
            mine = [people[place] for place in half]
            claims += [(people[place], *claim(people[place], others, keys, target)) for place in half]
            for place in half:
                for side, sign in ((drawn, 1), (others, -1)):
                    replicated, correct = _one(people[place], mine, side, keys, target)
                    gains["replicated"][place] += sign * replicated * len(rows) / (some * splits)
                    gains["correct"][place] += sign * correct * len(rows) / (some * splits)
    crowds = [tuple(person[key] for key in keys) for person in people]
    found = {name: clustered(gain, crowds) for name, gain in gains.items()}
    return found | {"surer": surer(people, rows, claims, keys, target)}


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


def _one(person, people, rows, keys, target):
    mine = tuple(person[key] for key in keys)
    alike = sum(tuple(other[key] for key in keys) == mine for other in people)
    there = [row[target] for row in rows if tuple(row[key] for key in keys) == mine]
    return alike == 1 and len(there) == 1, bool(there) and set(there) == {person[target]}
