"""The intruders who learn: time and memory in units of one plain nearest-record run, each run in its own process.

    python benchmarks/channel.py                          n = 1,000 and 10,000
    python benchmarks/channel.py --n 100000               channel, likelihood (aim for channel: 30 plain runs, 4 GB)
    python benchmarks/channel.py --n 1000000 --kind channel --noise 0.2    on sampled people

Table: the product's generated census (13 attributes) with independent noise. Seconds are of processors, one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

from linkage_parts.clock import now, peak, since

KINDS = ("channel", "likelihood")


def attack(kind, release):
    from unmask import link_channel, link_likelihood, link_nearest

    if kind == "nearest":
        return link_nearest(release)
    return link_channel(release) if kind == "channel" else link_likelihood(release)


def one(kind, n, noise):
    """Run one attack as a user does and print what it took."""
    from unmask import Release, datasets, parse_masking

    people = datasets.census(n)
    release = Release(people, parse_masking(f"noise({noise})").apply(people, 1))
    attack(kind, Release(people[:300], release.released[:300]))  # load the compiled kernels
    start = now()
    found = attack(kind, release)
    told = {"cpu": since(start).cpu, "peak": peak(), "rate": found.estimate.value}
    told["interval"] = found.estimate.low, found.estimate.high
    told["known"] = (found.known() if callable(found.known) else found.known).value
    told["converged"] = getattr(found, "converged", True)
    print(json.dumps(told))


def measure(kind, n, noise):
    command = [sys.executable, __file__, "--one", kind, "--n", str(n), "--noise", str(noise)]
    threads = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | threads)
    return json.loads(run.stdout.splitlines()[-1])


def compare(n, noise, kinds):
    """Each attack between two plain runs: a machine that slows down for a while slows down both."""
    before = measure("nearest", n, noise)
    print(f"n = {n:,}, noise {noise}: nearest record {before['cpu']:.2f} s, {before['peak']:.2f} GB, ", end="")
    print(f"{before['rate']:.2%}")
    for kind in kinds:
        told, after = measure(kind, n, noise), measure("nearest", n, noise)
        plain, before = (before["cpu"] + after["cpu"]) / 2, after
        low, high = told["interval"]
        rest = "" if told["converged"] else ", had not come to rest"
        print(f"  {kind}: {told['cpu']:.1f} s = {told['cpu'] / plain:.1f} plain runs of {plain:.2f} s, ", end="")
        print(f"{told['peak']:.2f} GB; ", end="")
        print(f"{told['rate']:.2%} found ({low:.2%} to {high:.2%}), {told['known']:.2%} known{rest}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--noise", type=float, default=0.5)
    parser.add_argument("--kind", nargs="+", default=KINDS)
    parser.add_argument("--one")
    options = parser.parse_args()
    if options.one:
        one(options.one, options.n[0], options.noise)
    else:
        for size in options.n:
            compare(size, options.noise, options.kind)
