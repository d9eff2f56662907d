"""What a published network gives away, as evidence: sentences, limits to be held against, pictures."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from unmask.arrays import Floats
from unmask.evidence import (
    Absence,
    Estimate,
    Evidence,
    Fact,
    Figure,
    Observation,
    Reported,
    Series,
    largest,
    rate,
    small_groups,
)
from unmask.networks.network import Network
from unmask.networks.risk import NetworkRisk
from unmask.networks.signatures import Candidates
from unmask.networks.utility import NetworkUtility
from unmask.shares import percent

TITLES = {
    "degree": "Number of ties",
    "neighbours": "Friends and their ties",
    "colours": "Everything around a person",
    "propagation": "From a few known people",
    "profiles": "Without knowing anybody",
}
STORIES = {
    "degree": "The intruder knows how many ties a person has, and looks for people of the release with as many.",
    "neighbours": "The intruder knows how many ties the friends of a person have, or which of them are friends of each "
    "other, and looks for people of the release with the same around them.",
    "colours": "The intruder knows the whole original network and looks for people of the release around whom, to any "
    "distance, everything is the same.",
    "propagation": "The intruder knows who some people are in the release. From them they go on to the friends whom "
    "these share, and from those to theirs.",
    "profiles": "The intruder knows nobody. They match people whose surroundings are alike, take the clearest pairs "
    "for known, and go on from them.",
}
LEFT = "Whoever uses the release wants its numbers of ties, clustering, distances and communities to be the original's."
FEW = "fewer than five people are in both networks: nobody can be known beforehand"
SURELY = "claims of which the intruder is sure: the clearest, as many as are right 19 times in 20."
UNSTABLE = "the refinement was stopped before it was stable: people further away may tell more apart"
SIZES = (1, 2, 5, 11, 51, 501)  # of the picture


def report_shape(network: Network, left: NetworkUtility) -> Reported:
    """What is left of the network, which no policy judges."""
    degrees = [side.degree for side in (network.original, network.released)]
    most = int(max(degree.max(initial=0) for degree in degrees))
    x = tuple(float(k) for k in range(most + 1))
    shares = [tuple((np.bincount(degree, minlength=most + 1) / degree.size).tolist()) for degree in degrees]
    named = ("original", "released")
    told = ", ".join(f"{name} {degree.mean():.1f}" for name, degree in zip(named, degrees, strict=True))
    figure = Figure(
        "line", "How many ties do people have?", "People by their number of ties, in the original and in the release.",
        f"Mean number of ties: {told}", "ties", "share of people",
        tuple(Series(name, x, share) for name, share in zip(named, shares, strict=True)), percent=(False, True),
    )  # fmt: skip
    return Reported("shape", "What is left of the network", LEFT, Evidence((), facts=left.facts(), figures=(figure,)))


def report_network(risk: NetworkRisk) -> tuple[Reported, ...]:
    """What each attack found, for a policy to judge."""
    made = {
        "degree": _degree(risk), "neighbours": _neighbours(risk), "colours": _colours(risk),
        "propagation": _propagation(risk), "profiles": _profiles(risk),
    }  # fmt: skip
    return tuple(Reported(name, TITLES[name], STORIES[name], evidence) for name, evidence in made.items())


def _rate(risk: NetworkRisk, found: Candidates) -> Estimate:
    return rate(found.credit, chance=risk.network.chance, seed=risk.seed)


def _small(risk: NetworkRisk, key: str, found: Candidates, words: str) -> Observation:
    told = f"{{hits}} of {{n}} people share {words} with fewer than {{k}} of the release, themselves among them."
    return small_groups(key, found.size, found.own, risk.network.released.n, told)


def _null(risk: NetworkRisk, claimed: float) -> Fact:
    """What would be found if nobody of the release were whom the key says: a claim is then right one time in n."""
    return Fact(
        "null", claimed * risk.network.chance, "share found where the release has nothing to do with the people"
    )


def _degree(risk: NetworkRisk) -> Evidence:
    found, network = risk.signatures.degree, risk.network
    facts = (
        _null(risk, float((found.size > 0).mean())),
        Fact("k", int(found.size[found.own].min(initial=network.released.n)), "smallest group by number of ties"),
        Fact("ties", network.released.n_ties, "ties in the release"),
        Fact("people", network.released.n, "people in the release"),
    )
    return Evidence(
        observations=(
            Observation.of_people("degree.rate", _rate(risk, found), "are found by their number of ties."),
            _small(risk, "degree.small", found, "their number of ties"),
        ),
        per_record=risk.credits()["degree"], facts=facts, notes=network.notes,
    )  # fmt: skip


def _neighbours(risk: NetworkRisk) -> Evidence:
    ways = risk.neighbours
    estimates = [_rate(risk, found) for _, found in ways]
    best = int(np.argmax([round(estimate.value, 12) for estimate in estimates]))
    around = risk.signatures.neighbourhood
    return Evidence(
        observations=(
            Observation.of_people("neighbours.rate", largest(estimates), f"are found by {ways[best][0]}."),
            _small(risk, "neighbours.small", around, "the ties among their friends"),
        ),
        per_record=risk.credits()["neighbours"],
        facts=(
            _null(risk, float((ways[best][1].size > 0).mean())),
            Fact(
                "k", int(around.size[around.own].min(initial=risk.network.released.n)),
                "smallest group by the ties among friends",
            ),
            *(Fact(f"by {words}", estimate.value, "share of people found")
              for (words, _), estimate in zip(ways, estimates, strict=True)),
        ),
    )  # fmt: skip


def _colours(risk: NetworkRisk) -> Evidence:
    (way, depth), network = risk.colours, risk.network
    every = [_rate(risk, found) for one in risk.signatures.refinements for found in one.rounds]
    found = way.rounds[depth]
    words = f"are found by {way.words}, up to {depth + 1} step{'s' * (depth > 0)} away."
    return Evidence(
        observations=(
            Observation.of_people("colours.rate", largest(every), words),
            _small(risk, "colours.small", found, "all that is around them"),
        ),
        per_record=risk.credits()["colours"],
        facts=(
            _null(risk, float((found.size > 0).mean())),
            Fact("classes", risk.signatures.refinements[0].classes, "classes of people of the release by ties alone"),
            *(Fact(f"classes by {one.words}", one.classes, "in the release")
              for one in risk.signatures.refinements[1:]),
        ),
        figures=(_by_depth(risk), _by_size(found, network.released.n)),
        notes=() if all(one.stable for one in risk.signatures.refinements) else (UNSTABLE,),
    )  # fmt: skip


def _by_depth(risk: NetworkRisk) -> Figure:
    """People found by how far the intruder looks."""
    series = []
    for one in risk.signatures.refinements:
        shares = tuple(float(found.credit.mean()) for found in one.rounds)
        series.append(Series(one.words, tuple(float(i + 1) for i in range(len(shares))), shares))
    told = "; ".join(f"{one.name}: {', '.join(percent(y) for y in one.y)}" for one in series)
    return Figure(
        "path", "How far must the intruder look?",
        "People found by what is around them, by how many steps away the intruder knows the network.",
        f"Share found by number of steps: {told}", "steps", "people found", tuple(series), percent=(False, True),
    )  # fmt: skip


def _by_size(found: Candidates, n: int) -> Figure:
    """People by how many look like them."""
    ends = [*(size for size in SIZES if size <= n), n + 1]
    bars = [("not found", float((~found.own).mean()))]
    for low, high in pairwise(ends):
        inside = found.own & (found.size >= low) & (found.size < high)
        named = f"{low}" if high - low == 1 else f"{low} to {high - 1}"
        bars.append((named, float(inside.mean())))
    return Figure.bars(
        bars, title="How many people look like a person?",
        caption="People of the original by how many of the release have the same around them; not found: they "
        "themselves have not.",
        said="Share of people by how many look like them: ", axes=("people who look the same", "share of people"),
        name="people", form="{}: {share}",
    )  # fmt: skip


def _propagation(risk: NetworkRisk) -> Evidence | Absence:
    found = risk.propagation
    if found is None:
        return Absence("does not apply", FEW)
    step = found.judged
    asked = int(risk.network.there.sum()) - step.seeds  # in one draw
    claims, right = (round(number) for number in step.sure)
    sure = rate(_counted(right, asked), chance=risk.network.chance)
    drawn = f"{found.draws} draws of the known people" if found.draws > 1 else "one draw of the known people"
    return Evidence(
        observations=(
            Observation.of_people(
                "propagation.rate", step.estimate, f"are found by somebody who knows {step.seeds} of them beforehand."
            ),
            Observation.of_people(
                "propagation.known", sure, f"are claimed rightly, among {claims:,} {SURELY}", claims=claims
            ),
        ),
        per_record=found.credit,
        facts=(
            _null(risk, step.claims / asked),
            Fact("claims", round(step.claims), f"people claimed, sure or not; {step.right:,.0f} of them rightly"),
            Fact("seeds", step.seeds, f"people known beforehand; {drawn}"),
        ),
        figures=(_by_seeds(risk),) if len(found.steps) > 1 else (),
        with_few=tuple(one.estimate for one in found.steps if one.seeds < step.seeds),
    )  # fmt: skip


def _counted(hits: int, n: int) -> Floats:
    return (np.arange(n) < hits).astype(np.float64)


def _by_seeds(risk: NetworkRisk) -> Figure:
    steps = risk.propagation.steps if risk.propagation is not None else ()
    x = tuple(float(step.seeds) for step in steps)
    found = Series("found", x, tuple(step.estimate.value for step in steps))
    right = Series("claims that are right", x, tuple(step.right / max(1.0, step.claims) for step in steps))
    told = ", ".join(f"{step.seeds}: {percent(step.estimate.value)}" for step in steps)
    return Figure(
        "path", "How many people must the intruder know?",
        "People found among those whom the intruder did not know beforehand, by how many they knew.",
        f"Share found by number of known people: {told}", "people known beforehand", "share", (found, right),
        percent=(False, True), log_x=True,
    )  # fmt: skip


def _profiles(risk: NetworkRisk) -> Evidence:
    found = risk.profiles
    n = int(risk.network.there.sum())
    claims, right = found.sure
    sure = rate(_counted(right, n), chance=risk.network.chance)
    names = ("one to one", "from the clearest pairs")[2 - len(found.estimates) :]
    return Evidence(
        observations=(
            Observation.of_people(
                "profiles.rate", largest(found.estimates), "are found by somebody who knows nobody beforehand."
            ),
            Observation.of_people(
                "profiles.known", sure, f"are claimed rightly, among {claims:,} {SURELY}", claims=claims
            ),
        ),
        per_record=risk.credits()["profiles"],
        facts=(
            _null(risk, found.claims / n),
            Fact("claims", found.claims, f"people claimed, sure or not; {found.right:,} of them rightly"),
            Fact("kept", found.kept, f"of {risk.network.original.n_ties:,} ties of the original are ties of the "
                 "release under these claims: what the intruder sees of it"),
            *(Fact(name, estimate.value, "share of people found")
              for name, estimate in zip(names, found.estimates, strict=True)),
        ),
    )  # fmt: skip
