"""`unmask.assess_network`: attack a published network, judge what was found, and report it as a release is."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unmask.assessment import Assessment
from unmask.errors import ParameterError
from unmask.evidence import Finding, Findings, Policy, Progress, conclude, silent
from unmask.fingerprints import fingerprints
from unmask.made_with import made_with
from unmask.networks import Network, NetworkRisk, network_risk, network_utility, report_network, report_shape
from unmask.report import document
from unmask.tables import Release

CHECK = document.CheckEntry(True, "untested", "people of a network have ties and no rows", ())  # noqa: FBT003
HOW = "how often it finds them in this release: one time in as many as look alike, or by draws of known people"


def assess_network(  # noqa: PLR0913 - the options of an assessment
    network: Network,
    *,
    seeds: int = 50,
    policy: Policy | str | Path | None = None,
    seed: int = 0,
    progress: Progress = silent,
    command: str | None = None,
    show_values: bool = False,
) -> Assessment:
    """Attack a network that is to be published, and say whether it may be.

    Parameters
    ----------
    network
        The original and the released network: ``Network(original, released)``.
    seeds
        How many people the intruder knows beforehand, for propagation; at most a fifth of those in both networks.
    policy, seed, progress, command, show_values
        As for ``assess``.

    Examples
    --------
    >>> import unmask
    >>> friends = unmask.datasets.friends(200)
    >>> unmask.assess_network(unmask.Network(friends, friends)).verdict
    'unsafe'

    """
    if seed < 0:
        raise ParameterError("a seed is a whole number from 0", got=str(seed))
    rules = policy if isinstance(policy, Policy) else Policy.load(policy)
    found = network_risk(network, seeds=seeds, seed=seed, progress=progress)
    left = report_shape(network, network_utility(network, seed=seed))
    judged = conclude((*report_network(found), left), rules, columns=(), core="network", checked=_unstable(found))
    risk, best = found.risks()
    labels = tuple(network.original.ids.cast(pl.String)) if show_values else None
    built = document.build(
        judged,
        check=CHECK,
        columns=(),
        warnings=_few(found, rules),
        risk={**found.credits(), "risk": risk},
        people=document.PeopleEntry(best, HOW, int((~np.isnan(risk)).sum()), 0.0, ()),
        labels=labels,
        manifest=_manifest(network, rules, seed, command, {"seeds": seeds, "show_values": show_values}),
    )
    people = pl.DataFrame({"id": network.original.ids})
    records = found.to_frame() if show_values else found.to_frame().drop("id")  # an id is a value
    return Assessment(
        judged.verdict.word, judged.verdict.reason, Findings(judged.findings), records, built,
        Release(people, people, synthetic=True),
    )  # fmt: skip


def _few(found: NetworkRisk, policy: Policy) -> tuple[str, ...]:
    """Say so where there are too few people, besides those known beforehand, for the policy to say "safe" at all."""
    known = 0 if found.propagation is None else found.propagation.seeds
    return policy.too_few("network", int(found.network.there.sum()), known)


def _unstable(found: NetworkRisk) -> tuple[Finding, ...]:
    """A refinement that was stopped may have told more people apart."""
    if all(one.stable for one in found.signatures.refinements):
        return ()
    words = "Colour refinement was stopped before it was stable: people may be told apart more than this report says."
    return (Finding("check", "check.network", words, "inconclusive", "more rounds would have taken too long"),)


def _manifest(
    network: Network, policy: Policy, seed: int, command: str | None, asked: dict[str, Any]
) -> document.Manifest:
    sides = {"original network": network.original, "released network": network.released}
    return document.Manifest(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command,
        seed=seed,
        measures=("degree", "neighbours", "colours", "propagation", "profiles"),
        inputs=fingerprints(
            {
                name: {**source, "people": side.n, "ties": side.n_ties}
                for (name, side), source in zip(sides.items(), network.sources, strict=True)
            }
        ),
        settings={
            "seeds": asked["seeds"], "directed": network.directed, "said_of_people": [*network.said_of_people],
            "said_of_ties": [*network.said_of_ties],
        },
        policy=policy.told(),
        versions=made_with(),
        show_values=asked["show_values"],
    )  # fmt: skip
