"""Who matches whom, by definition: a known number equals every interval that contains it, missing equals missing."""

from __future__ import annotations


def equals(known, published) -> bool:
    """Whether a published cell carries what is known; intervals are written "20-29"."""
    if known is None or published is None:
        return known is None and published is None
    if isinstance(published, str) and "-" in published:
        low, high = published.split("-")
        return float(low) <= known <= float(high)
    return known == published


def crowd(person, records, attributes) -> list[int]:
    """Records that carry everything that is known of a person in these attributes."""
    return [j for j, record in enumerate(records) if all(equals(person[a], record[a]) for a in attributes)]


def credit(people, records, attributes) -> list[float]:
    """Person i is found with 1 / crowd when record i is in their crowd."""
    crowds = [crowd(person, records, attributes) for person in people]
    return [1 / len(rows) if i in rows else 0.0 for i, rows in enumerate(crowds)]


def special_credit(people, records, sets) -> list[float]:
    """``sets``: (record, attributes) of every minimal sample unique; who carries its values is claimed to be it."""
    found = []
    for i, person in enumerate(people):
        claimed = {j for j, attributes in sets if all(equals(person[a], records[j][a]) for a in attributes)}
        found.append(1 / len(claimed) if i in claimed else 0.0)
    return found
