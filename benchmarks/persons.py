"""Many rows a person: what reading, laying rows on rows and drawing points cost, in one run.

n people with ten rows each on average (trajectories: time and antenna), released by days and areas; and n people with
their visits (four each), released by years without the town.

read:    both tables from CSV, and rows of each person laid on each other.
bags:    everybody, or as many as fit in the work of one attack, compared with everybody by distances.
taught:  the same by what half of the people teach.
points:  unicity, four draws of 1,000 people. alike: groups of people with the same rows.

Aim: all attacks on 10,000 people with ten rows each within about a minute of one processor and 2 GB; whoever is asked
about is compared with the whole release. Set OMP_NUM_THREADS, NUMBA_NUM_THREADS and POLARS_MAX_THREADS to 1.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import polars as pl

import unmask
from unmask.persons.alike import alike
from unmask.persons.link import link_blind, link_taught
from unmask.persons.points import sequences


def spent(function):
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def written(kind, n, folder):
    if kind == "trajectories":
        table = unmask.datasets.trajectories(n)
        released = table.with_columns(pl.col("time").dt.date(), pl.col("antenna").str.slice(0, 3))
        roles = {"id": "person", "time": "time", "place": "antenna"}
    else:
        table = unmask.datasets.visits(n).drop("cost")
        released = table.with_columns(pl.col("admitted").dt.strftime("%Y")).drop("town", "days")
        roles = {"id": "patient"}
    paths = folder / f"{kind}.csv", folder / f"{kind} released.csv"
    table.write_csv(paths[0])
    released.write_csv(paths[1])
    return paths, roles


def run(kind, n, folder):
    paths, roles = written(kind, n, folder)
    taken, persons = spent(lambda: unmask.Persons(*paths, **roles))
    columns = persons.columns()
    print(f"{kind}: {persons.n:,} people, {persons.sizes[0].sum():,} rows, {len(columns.names)} columns")
    print(f"read       {taken:6.1f} s")
    for name, attack in (("bags", link_blind), ("taught", link_taught)):
        taken, found = spent(lambda attack=attack: attack(persons, columns))
        told = f"{found.asked.size:,} asked about, {found.estimates[0].value:.1%} found, {found.known.sum():,.0f} known"
        print(f"{name:10} {taken:6.1f} s, {told}")
    taken, curve = spent(lambda: unmask.unicity(persons))
    print(f"points     {taken:6.1f} s, singled out by four: {curve.released[3].value:.1%}")
    print(f"sequences  {spent(lambda: sequences(persons))[0]:6.1f} s")
    taken, same = spent(lambda: alike(persons))
    print(f"alike      {taken:6.1f} s, {same.groups:,} groups of people")
    print(f"memory     {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:6.2f} GB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=10_000)
    small = unmask.datasets.visits(60)
    unmask.persons_risk(unmask.Persons(small, small, id="patient"))  # compile
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("trajectories", "visits"):
            run(kind, parser.parse_args().people, Path(folder))


if __name__ == "__main__":
    main()
