"""Reproduce Kroll's experiments (Tables 3 to 7, Figures 4 to 9) and write docs/papers/graph-attack.md.

    python benchmarks/papers/graph_attack.py run --reps 100 50 50   # the cells: see below
    python benchmarks/papers/graph_attack.py write                  # the page, from the figures of the last run

Repetitions: N = 100; mixed sizes and N = 300 with alpha 0.5; N = 300 with alpha 0.9. Figures of a run are kept in
docs/papers/graph-attack.json, ten repetitions at a time, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import polars as pl

from unmask.datasets.places import people, uniform_points
from unmask.graph import Coordinates, Deviations, NoiseTolerance, Place, link_graph
from unmask.graph.tolerance import deviations

ROOT = Path(__file__).parents[2] / "docs" / "papers"
STORE = ROOT / "graph-attack.json"
SIGMAS = [round(0.01 * k, 2) for k in range(1, 11)]
COMMON = [10, 25, 50, 100]
LONLAT = Coordinates("lon", "lat")
STEP = 10  # repetitions after which a cell is stored

# Table 3: quantiles 0.05, 0.25, 0.75, 0.95 and sample variance
TABLE3 = {
    0.01: (-2.1185, -0.8877, 0.8742, 2.3365, 1.7613), 0.02: (-4.4577, -1.9054, 1.7744, 4.0726, 7.0433),
    0.03: (-6.7860, -2.7144, 2.6000, 6.1992, 16.2465), 0.04: (-9.3577, -3.4838, 3.6967, 8.8865, 30.2513),
    0.05: (-11.5771, -4.6609, 4.1113, 11.3509, 47.8643), 0.06: (-11.9136, -5.3549, 5.1601, 13.7124, 64.3454),
    0.07: (-15.1725, -6.7557, 5.4345, 15.4473, 84.8152), 0.08: (-17.0787, -7.4898, 7.0405, 17.9175, 117.1461),
    0.09: (-20.1859, -7.8677, 8.2208, 20.1929, 146.4311), 0.10: (-25.8312, -9.4552, 7.5855, 21.4478, 194.2151),
}  # fmt: skip
TABLE4 = {
    (10, 0.5): "0.9013 0.8593 0.7508 0.6494 0.5621 0.4704 0.3772 0.2815 0.2368 0.1899",
    (10, 0.9): "0.9120 0.9076 0.9049 0.8903 0.8631 0.8185 0.7637 0.6805 0.6177 0.5295",
    (25, 0.5): "1.0000 0.9954 0.9814 0.9718 0.9568 0.9522 0.9375 0.9303 0.9246 0.9089",
    (25, 0.9): "1.0000 0.9908 0.9745 0.9588 0.9456 0.9337 0.9216 0.9068 0.8943 0.8858",
    (50, 0.5): "1.0000 0.9992 0.9973 0.9866 0.9766 0.9660 0.9563 0.9470 0.9422 0.9258",
    (50, 0.9): "1.0000 0.9984 0.9927 0.9765 0.9622 0.9514 0.9417 0.9322 0.9204 0.9113",
    (100, 0.5): "1.0000 1.0000 1.0000 0.9997 0.9980 0.9970 0.9936 0.9909 0.9877 0.9814",
    (100, 0.9): "1.0000 1.0000 1.0000 0.9992 0.9976 0.9948 0.9915 0.9853 0.9816 0.9768",
}
TABLE5 = {
    (10, 0.5): "0.6100 0.6210 0.5780 0.5760 0.5510 0.4950 0.4100 0.4110 0.3910 0.3060",
    (10, 0.9): "0.8870 0.8850 0.8920 0.8940 0.8980 0.8710 0.8430 0.8330 0.7910 0.7500",
    (25, 0.5): "0.4464 0.4724 0.4540 0.4496 0.4472 0.4468 0.4560 0.4680 0.4708 0.4492",
    (25, 0.9): "0.8000 0.7996 0.8112 0.8184 0.8044 0.8020 0.8020 0.7884 0.8016 0.7916",
    (50, 0.5): "0.3626 0.3806 0.3508 0.3796 0.3784 0.3686 0.3708 0.3488 0.3512 0.3466",
    (50, 0.9): "0.7404 0.7414 0.7442 0.7726 0.7578 0.7498 0.7476 0.7474 0.7538 0.7268",
    (100, 0.5): "0.2984 0.2947 0.2757 0.3053 0.3011 0.2966 0.2888 0.3007 0.2920 0.2738",
    (100, 0.9): "0.6867 0.6918 0.6966 0.7186 0.7136 0.7048 0.7050 0.6977 0.7106 0.6884",
}
SIZES = [(100, 100), (100, 300), (300, 100), (300, 300)]
# Tables 6 (precision, alpha 0.5) and 7 (recall; alpha 0.9, whatever its caption says): columns as SIZES, rows sigma
TABLE6 = {
    10: """
    0.9188 0.7971 0.8281 0.5062 0.8873 0.6765 0.6441 0.3602 0.7808 0.4443 0.5532 0.2740 0.6743 0.3684 0.4447 0.2738
    0.5913 0.1980 0.4144 0.2328 0.4973 0.1598 0.3359 0.1911 0.4285 0.1710 0.2974 0.1818 0.3130 0.1202 0.2523 0.1426
    0.2664 0.0917 0.2363 0.1163 0.2107 0.0735 0.2191 0.1086""",
    25: """
    1.0000 0.9980 0.9721 0.9370 0.9947 0.9737 0.9375 0.8611 0.9724 0.9291 0.9093 0.7668 0.9673 0.8704 0.8812 0.6827
    0.9515 0.8029 0.8479 0.5923 0.9544 0.7343 0.8036 0.5638 0.9390 0.6903 0.7238 0.4952 0.9368 0.6508 0.6641 0.4425
    0.9269 0.6391 0.5925 0.3832 0.9165 0.6091 0.5801 0.3123""",
    50: """
    1.0000 0.9753 0.9838 0.9801 0.9985 0.9643 0.9772 0.9406 0.9980 0.9564 0.9571 0.8936 0.9858 0.9380 0.9397 0.8356
    0.9754 0.9335 0.9290 0.7736 0.9645 0.9178 0.9116 0.7082 0.9582 0.9010 0.8827 0.6759 0.9496 0.8895 0.8665 0.6385
    0.9434 0.8666 0.8366 0.6015 0.9281 0.8368 0.8280 0.5658""",
    100: """
    1.0000 1.0000 1.0000 0.9922 1.0000 1.0000 0.9985 0.9839 1.0000 0.9986 0.9934 0.9634 0.9994 0.9957 0.9817 0.9398
    0.9979 0.9913 0.9754 0.9100 0.9965 0.9881 0.9691 0.8837 0.9927 0.9845 0.9618 0.8535 0.9877 0.9760 0.9557 0.8168
    0.9835 0.9741 0.9454 0.7944 0.9745 0.9601 0.9411 0.7694""",
}
TABLE7 = {
    10: """
    0.8900 0.8820 0.8660 0.8160 0.8900 0.8840 0.8600 0.8200 0.9000 0.8580 0.8300 0.7760 0.8960 0.8340 0.8220 0.7540
    0.9120 0.7840 0.7960 0.7200 0.8800 0.7380 0.8040 0.6660 0.8560 0.6540 0.7680 0.6840 0.8500 0.6320 0.7680 0.6760
    0.8600 0.5240 0.7860 0.6680 0.7840 0.4800 0.7420 0.6540""",
    25: """
    0.8000 0.7952 0.7864 0.7952 0.8016 0.7920 0.7920 0.7784 0.8096 0.7920 0.7872 0.7824 0.8088 0.8088 0.8056 0.7624
    0.8088 0.7936 0.7912 0.7448 0.7992 0.7896 0.7808 0.7232 0.8008 0.7832 0.7840 0.7112 0.7984 0.7600 0.7568 0.6640
    0.7960 0.7752 0.7536 0.6656 0.7904 0.7512 0.7152 0.6656""",
    50: """
    0.7384 0.7272 0.7580 0.7324 0.7360 0.7348 0.7512 0.7304 0.7448 0.7368 0.7572 0.7320 0.7660 0.7668 0.7752 0.7488
    0.7592 0.7552 0.7676 0.7364 0.7424 0.7444 0.7508 0.7192 0.7532 0.7456 0.7444 0.7116 0.7464 0.7348 0.7360 0.6928
    0.7512 0.7480 0.7540 0.7100 0.7264 0.7180 0.7204 0.6712""",
    100: """
    0.6826 0.6798 0.6904 0.6872 0.6874 0.6842 0.6836 0.6858 0.6908 0.7034 0.6946 0.6948 0.7170 0.7274 0.7188 0.7144
    0.7174 0.7190 0.7100 0.6956 0.7010 0.7012 0.6938 0.6876 0.7010 0.7164 0.6922 0.6890 0.6972 0.6944 0.6910 0.6766
    0.7088 0.7092 0.7026 0.6944 0.6870 0.6824 0.6784 0.6646""",
}


def files(n1, n2, common, sigma, rng, urban):
    """Target (noise on its coordinates), identification, truth."""
    everyone = people(n1 + n2 - common, rng, urban=urban)
    noise = rng.normal(0, sigma, size=(2, n1))
    target = everyone[:n1].with_columns(lon=pl.col("lon") + noise[0], lat=pl.col("lat") + noise[1])
    return target, everyone[n1 - common :], np.column_stack([np.arange(n1 - common, n1), np.arange(common)])


def cell(key, reps, urban, tolerance=None, before=(0.0, 0.0, 0.0, 0)):
    """Mean precision, recall and share certified over repetitions; those ``before`` are not played again."""
    n1, n2, common, sigma, alpha = key
    q = TABLE3[sigma]
    agreed = tolerance or (Deviations(q[1], q[2]) if alpha == 0.5 else Deviations(q[0], q[3]))
    got = []
    for k in range(before[3], reps):
        rng = np.random.default_rng([n1, n2, common, round(1000 * sigma), k])
        target, identification, truth = files(n1, n2, common, sigma, rng, urban)
        link = link_graph(
            original=(identification, LONLAT),
            released=(target, LONLAT),
            labels=["sex", "age"],
            tolerance=agreed,
            method="exact",
            null=None,
        )
        got.append((link.precision(truth), link.recall(truth), link.exact))
    mean = (before[3] * np.array(before[:3]) + np.sum(got, axis=0)) / reps
    return [*map(float, mean), reps]


def urban_of(n1, n2):
    return 0.35 if max(n1, n2) == 100 else 0.55


def run(reps):
    """All cells, cheapest first; each is stored when it is done."""
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    small, middle, large = reps
    plan = []
    for sigma in SIGMAS:
        for common in COMMON:
            for n1, n2 in SIZES:
                for alpha in (0.5, 0.9):
                    size = small if n1 == n2 == 100 else large if (n1 == n2 == 300 and alpha == 0.9) else middle
                    plan.append((n1 * n2 * (1 + 5 * (alpha == 0.9)), (n1, n2, common, sigma, alpha), size, None))
    for alpha in [round(0.1 * k, 1) for k in range(1, 10)] + [0.95, 0.99]:
        for sigma in (0.01, 0.05, 0.1):
            plan.append((1, (100, 100, 50, sigma, alpha), small // 2, "figure 5"))
            plan.append((10**6, (300, 300, 100, sigma, alpha), max(3, large // 4), "figure 8"))
    for _, key, size, figure in sorted(plan, key=lambda p: p[0]):
        name = " ".join(map(str, (*key, figure) if figure else key))
        n1, n2, _, sigma, alpha = key
        tolerance = NoiseTolerance(sigma, alpha) if figure else None
        done = store.get(name, (0.0, 0.0, 0.0, 0))
        while done[3] < size:
            done = cell(key, min(done[3] + STEP, size), urban_of(n1, n2), tolerance, done)
            store[name] = done
            print(name, [round(x, 4) for x in done], file=sys.stderr, flush=True)
            STORE.write_text(json.dumps(store, indent=0))


def deviation_table(draws=200_000):
    """Our Table 3: uniform pairs of points in Germany."""
    points = uniform_points(20_000, np.random.default_rng(3))
    place = Place(pl.DataFrame({"n": range(20_000)}), None, points, "lonlat")
    rows = []
    for sigma in SIGMAS:
        d = deviations(place, NoiseTolerance(sigma, draws=draws))
        rows.append((sigma, *np.quantile(d, [0.05, 0.25, 0.75, 0.95]), d.var()))
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["run", "write"])
    parser.add_argument("--reps", type=int, nargs=3, default=[100, 50, 50])
    chosen = parser.parse_args()
    if chosen.what == "run":
        run(chosen.reps)
    else:
        from graph_attack_page import write

        write()
