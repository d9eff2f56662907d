"""Write docs/gauntlet.md from the results: python benchmarks/gauntlet/page.py (after run.py and peers.py)."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

from families import CASES, FAMILIES, chosen
from run import RESULTS, keeps

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "gauntlet.md"
PEER_COLUMNS = {  # heading: (tool, number)
    "recordlinkage": ("recordlinkage", "found"),
    "Splink": ("splink", "found"),
    "Anonymeter, singling out": ("anonymeter", "singling_out"),
    "Anonymeter, linkability": ("anonymeter", "linkability"),
    "SDMetrics, 1 - DCR protection": ("sdmetrics", "dcr"),
    "SDMetrics, 1 - new rows": ("sdmetrics", "copied_rows"),
}

HEAD = """# The gauntlet: releases with a known answer

A report that says "safe" of a release in which people can be found is the worst error this software can make. The
gauntlet looks for that error. It is {cases} releases, each with an intruder of a few lines who was written for that
release. They use what an intruder may know: the original (maximum knowledge), the release, and how such releases are
made. Which row belongs to whom is used to count what they found, never to find it; a test proves it.

`unmask assess` does not know which release it is given, nor how it was made. It **holds** a case when

- people can be found: the verdict is *unsafe*, and the largest share of people found in the report is at least 95 % of
  what the bespoke intruder finds. Where only a few people are found, or who is in the data is learnt and nobody is
  linked, the verdict alone counts;
- nobody can be found: the verdict is not *unsafe*. Over several seeds one in twenty may be, the level of the tests.

{headline}

Every table below is made by `benchmarks/gauntlet/page.py` from `benchmarks/results/gauntlet.json`. "Intruder" is the
share of people that the intruder written for the release finds, ties shared; "report" is the largest share of people
found among all findings, with the finding; "no result" says that the case has not been run for this page.
"""

TAIL = """
## Run it

```
unmask selfcheck --gauntlet --cases 8                     # one release of each family, from the installed package
python benchmarks/gauntlet/run.py                         # all of them, results into benchmarks/results/gauntlet.json
python benchmarks/gauntlet/run.py rotated --seeds 5       # one of them
python benchmarks/gauntlet/run.py --family harmless --seeds 20 --limit 300
python benchmarks/gauntlet/run.py --linking               # count only measures that link records
python benchmarks/gauntlet/peers.py && python benchmarks/gauntlet/page.py
```

In Python: `unmask.datasets.gauntlet.CASES["pram"].make(seed)` gives the two tables, the roles, and `found`; the package
has the cases that selfcheck runs, `families.CASES` in `benchmarks/gauntlet` all of them.

## Add a release

A case is a function of a seed in `benchmarks/gauntlet/families/<family>.py` with the decorator `@case("family")` (in
`src/unmask/datasets/gauntlet/quick.py`, if selfcheck is to run it). Its docstring says what was done to the release; it
makes both tables, plays its own intruder on them and returns both with the share found. Keep n below 1,000 (harmless:
3,000), and the intruder to a few lines. The tests ask of every case that a seed gives one release, that the share is
well above chance and clear of the commonest limit (one in five), that the row order tells nothing, and that the truth
is used only to count.

## What it does not show

The releases are generated, and small. A release that is none of these families may still give people away; that all
cases hold is no proof of safety, that one fails is a proof of a gap. The bespoke intruders are strong but not the best
possible: the report may find more than they do.
"""

PEERS = """
## Other tools on the same releases

They answer other questions, so the columns cannot be compared number by number; what they have in common is that a
number near zero reads as "no risk seen". None of them gives a verdict. recordlinkage and Splink link by EM over all
pairs of the columns that both files have; the number is the share of people whose most probable record is their own,
with the widths of agreement that find most and the tools' own starts of EM: a specialist may get more out of them.
Releases with a row for everybody were cut to 400 people for all four tools, which makes finding them easier.
Anonymeter's numbers are the success rates of its attacks, corrected for the success on people outside where a control
table is given, and not otherwise. SDMetrics' are 1 less its score. "-" means that the tool does not apply or stopped;
the reason is in `benchmarks/results/gauntlet_peers.json`. sdcMicro was not run: it needs R.
"""


def load(path: Path) -> list[dict]:
    return json.loads(path.read_text())["rows"] if path.exists() else []


def percent(share: float | None) -> str:
    return "nobody" if share is None else f"{100 * share:.1f} %"


def headline(cases: dict[str, list[dict]]) -> str:
    """Say how many hold, of how many that were run."""
    if not cases:
        return "No results yet."
    held = sum(keeps(rows, "holds") for rows in cases.values())
    commits = sorted({row["commit"] for rows in cases.values() for row in rows})
    of = (
        f"{len(cases)} of {len(CASES)} releases were run for this page"
        if len(cases) < len(CASES)
        else f"All {len(cases)} releases were run"
    )
    false_safe = [
        n for n, rows in cases.items() if rows[0]["wanted"] is not None and any(r["verdict"] == "safe" for r in rows)
    ]
    alarms = [n for n, rows in cases.items() if rows[0]["wanted"] is None and not keeps(rows, "holds")]
    return (
        f"**{held} of {len(cases)} hold.** {of} (commit {', '.join(commits)}); "
        f'false "safe": {len(false_safe)}; false alarms beyond the level: {len(alarms)}.'
    )


def family_table(family: str, cases: dict[str, list[dict]]) -> list[str]:
    lines = [
        f"\n## {family.capitalize()}: {FAMILIES[family]}\n",
        "| release | what was done | the intruder | intruder | report | verdict | |",
        "|---|---|---|---:|---|---|---|",
    ]
    for known in chosen(family=family):
        case = known.make(0)
        rows = cases.get(known.name, [])
        cells = [known.name.replace("_", " "), known.story, case.words, percent(case.found)]
        if rows:
            first, verdicts = rows[0], sorted({row["verdict"] for row in rows})
            held = "holds" if keeps(rows, "holds") else "**fails**"
            seeds = f" ({sum(row['holds'] for row in rows)} of {len(rows)} seeds)" if len(rows) > 1 else ""
            cells += [f"{percent(first['best'])} `{first['key']}`", ", ".join(verdicts), held + seeds]
        else:
            cells += ["no result", "", ""]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines


def peers_table(rows: list[dict], cases: dict[str, list[dict]]) -> list[str]:
    said = {(row["case"], row["tool"], a["number"]): a["value"] for row in rows for a in row["answers"]}
    versions = sorted({f"{row['tool']} {row['version']}" for row in rows if row["version"]})
    lines = [PEERS, f"Versions: {', '.join(versions)}.\n"]
    lines += [
        "| release | intruder | unmask | " + " | ".join(PEER_COLUMNS) + " |",
        "|---|---:|---|" + "---:|" * len(PEER_COLUMNS),
    ]
    for name in dict.fromkeys(row["case"] for row in rows):
        ours = cases.get(name)
        us = f"{percent(ours[0]['best'])}, {ours[0]['verdict']}" if ours else "no result"
        figures = [said.get((name, *column)) for column in PEER_COLUMNS.values()]
        cells = ["-" if figure is None else percent(max(figure, 0.0)) for figure in figures]
        wanted = percent(CASES[name].make(0).found)
        lines.append(f"| {name.replace('_', ' ')} | {wanted} | {us} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    cases = defaultdict(list)
    for row in load(RESULTS):
        cases[row["name"]].append(row)
    peers = load(RESULTS.with_name("gauntlet_peers.json"))
    lines = [HEAD.format(cases=len(CASES), headline=headline(cases))]
    for family in FAMILIES:
        lines += family_table(family, cases)
    if peers:
        lines += peers_table(peers, cases)
    PAGE.write_text("\n".join([*lines, TAIL]).rstrip() + "\n")


if __name__ == "__main__":
    main()
