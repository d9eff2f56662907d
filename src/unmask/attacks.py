"""Attack a release: every measure once for all who hold the same columns, whoever they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unmask.deadlines import within
from unmask.errors import NothingToTryError, OutOfTimeError, UnmaskError, refused_by_system, tell_where
from unmask.evidence import ENDED, Absence, Context, Evidence, Measure, Reported, closed_to, conclude
from unmask.intake import Check, check, readable
from unmask.people import risk_of_people
from unmask.sampling import people_by_hash
from unmask.study import Study, as_study, give_back

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from unmask.arrays import Floats
    from unmask.evidence import Judgement, Policy, Progress, Who
    from unmask.people import PersonRisk
    from unmask.planning import Plan, Planned
    from unmask.recipients import Recipient
    from unmask.resume import Kept, Remembered
    from unmask.tables import Release

    Again = Callable[[str, Release, int], Floats | None]
    Columns = tuple[str, ...] | None  # that somebody holds; None: all
    Keeper = Callable[[str, Callable[[], Evidence | Absence]], Evidence | Absence]

SEE_WHERE = "run again with --debug (in Python: UNMASK_DEBUG=1) to see where, and please report it"


@dataclass(frozen=True, slots=True)
class Attacked:
    """What all attacks reported on a release, as somebody sees it who holds certain columns."""

    study: Study
    known: Release  # with the columns that they hold, readable or not
    checked: Check
    reported: tuple[Reported, ...]
    left_out: tuple[str, ...] = ()  # attacks that nobody wanted to be run

    def risk_for(self, policy: Policy, who: Who, again: Again, seed: int) -> PersonRisk:
        """How often the best attack of one intruder finds each person."""
        return risk_of_people(self.study.release, self.judge(policy, who).reported, again, seed=seed)

    def ran_core(self, policy: Policy, who: Who) -> bool:
        """Whether the attacks ran without which nothing is safe: without them nobody knows which is the best."""
        ran = {entry.measure for entry in self.reported if isinstance(entry.evidence, Evidence)}
        return all(name in ran or closed_to(name, who) for name in policy.core.get("paired", ()))

    def judge(self, policy: Policy, who: Who, people: PersonRisk | None = None, attempt: float = 1.0) -> Judgement:
        """The verdict for one intruder; ``people``: their risks, which are judged where the core attacks ran."""
        from unmask.linkage import target_columns  # noqa: PLC0415 - loads numba

        return conclude(
            (*self.reported, *(people.reported() if people and self.ran_core(policy, who) else ())),
            policy,
            columns=target_columns(self.known),
            shared=bool(self.known.quasi),
            synthetic=self.study.release.synthetic,
            alone=self.study.release.alone,
            checked=self.checked.findings,
            intruder=who,
            attempt=attempt,
            left_out=self.left_out,
        )


def parties_of(release: Release, recipients: Sequence[Recipient], who: Who) -> dict[Columns, tuple[Release, set[Who]]]:
    """Releases to attack, one for each set of columns that somebody holds (None: all), and the intruders on each.

    ``who`` attacks where no recipient is named.
    """
    found: dict[Columns, tuple[Release, set[Who]]] = {} if recipients else {None: (release, {who})}
    for recipient in recipients:
        names = held(recipient, release)
        if names not in found:
            found[names] = (release if names is None else release.known_by(names), set())
        found[names][1].add(recipient.who)
    return found


def held(recipient: Recipient, release: Release) -> Columns:
    """The columns that a recipient holds, in the order of the original; None when these are all."""
    if recipient.columns is None:
        return None
    known = release.known_by(recipient.columns).roles
    names = {*known.quasi, *known.unshared}
    everything = {*release.quasi, *(release.roles.unshared)}
    return None if names == everything else tuple(name for name in release.original.columns if name in names)


def attack_all(
    parties: Mapping[Columns, tuple[Release, set[Who]]],
    chosen: Sequence[Measure],
    context: Context,
    kept: Kept | Remembered | None = None,
    plan: Plan | None = None,
) -> dict[Columns, Attacked]:
    """Attack the release of each party in turn; ``kept``: where finished attacks are, and go. No plan: all exact."""
    tell, n = context.progress, len(parties)
    found = {
        names: _attack_for(
            known,
            chosen,
            whose,
            replace(context, progress=_part_of(tell, place, n, "")),
            _kept_for(names, kept),
            None if plan is None else plan.of(names).share_of(n - place),
        )
        for place, (names, (known, whose)) in enumerate(parties.items())
    }
    tell(1.0, "done")
    return found


def with_left_out(
    attacked: Mapping[Columns, Attacked], chosen: Iterable[Measure], measures: Iterable[str]
) -> dict[Columns, Attacked]:
    """Tell each party which attacks nobody wanted to be run: without them less is shown."""
    names = {entry.name for entry in chosen}
    left_out = tuple(name for name in measures if name not in names)
    return {columns: replace(one, left_out=left_out) for columns, one in attacked.items()}


def _kept_for(party: Columns, kept: Kept | Remembered | None) -> Keeper:
    """How the result of an attack for one party is had: from before, or by running it now, and then keeping it."""

    def keeper(name: str, run: Callable[[], Evidence | Absence]) -> Evidence | Absence:
        found = None if kept is None else kept.find(party, name)
        if found is None:
            found = run()
            if kept is not None:
                kept.keep(party, name, found)
        return found

    return keeper


def _attack_for(
    release: Release,
    chosen: Sequence[Measure],
    whose: Iterable[Who],
    context: Context,
    keeper: Keeper,
    plan: Plan | None,
) -> Attacked:
    """Run the attacks that are open to some of the intruders, each once, in the order of the plan."""
    places = {name: place for place, name in enumerate((*release.original.columns, *release.released.columns)[::-1])}
    release = release.without_redundant().in_order_of_content()
    study = readable(Study(release))  # one for all measures
    checked = check(study)
    checked = replace(checked, columns=tuple(sorted(checked.columns, key=lambda entry: -places[entry.name])))
    if checked.pairing.looks == "unpaired":  # attacks that need no pairs are not misled
        study = Study(study.release.without_pairs())
    reasons = {entry.name: [closed_to(entry.name, who) for who in whose] for entry in chosen}
    open_ = [entry for entry in chosen if None in reasons[entry.name]]
    if plan is not None and plan.budget is not None:
        open_ = sorted(open_, key=lambda entry: plan.place(entry.name))
    done = {
        entry.name: _report(
            entry,
            study,
            replace(context, progress=_part_of(context.progress, place, len(open_), entry.title)),
            keeper,
            plan,
        )
        for place, entry in enumerate(open_)
    }
    left = {
        entry.name: Reported(entry.name, entry.title, entry.story, Absence("does not apply", str(reason)))
        for entry in chosen
        if entry.name not in done and (reason := reasons[entry.name][0]) is not None
    }
    return Attacked(study, release, checked, tuple({**done, **left}[entry.name] for entry in chosen))


def _part_of(progress: Progress, place: int, n: int, title: str) -> Progress:
    """Let one of n measures tell its progress as a part of the whole."""
    return lambda done, words: progress((place + done) / n, f"{title}: {words}" if title else words)


def _report(entry: Measure, study: Study, context: Context, keeper: Keeper, plan: Plan | None) -> Reported:
    planned = None if plan is None else plan.now(entry.name)
    context.progress(0.0, "begins")
    if planned is not None and planned.form == "left out" and entry.applies(study.release) is None:
        return Reported(entry.name, entry.title, entry.story, Absence.for_want_of_time())
    seeded = replace(with_plan(context, study, planned), seed=seed_of(context.seed, entry))
    limit = None if plan is None else plan.may_take(entry.name)
    evidence = keeper(entry.name + _form(planned), lambda: _in_time(entry, study, seeded, limit))
    give_back(study.release.released.height)
    if seeded.people is not None and isinstance(evidence, Evidence):
        evidence = replace(evidence, asked=(seeded.people.size, len(study.release.paired_rows)))
    if isinstance(evidence, Evidence):
        context.progress(1.0, ended_with(evidence))
    return Reported(entry.name, entry.title, entry.story, evidence)


def _in_time(entry: Measure, study: Study, context: Context, limit: float | None) -> Evidence | Absence:
    """Run one measure; one that takes longer than ``limit`` seconds is ended, and said to be late."""
    try:
        with within(limit):
            return run_measure(entry, study, context)
    except OutOfTimeError:
        return Absence.for_want_of_time()


def ended_with(evidence: Evidence) -> str:
    """What an attack found, in the words of progress: told to whoever stops the command."""
    return ENDED + next((one.claim for one in evidence.observations if one.claim), "to be judged with the others")


def with_plan(context: Context, study: Study, planned: Planned | None) -> Context:
    """Tell an attack whom to ask for: everybody, or those of the smallest hashes, the same people in every attack."""
    release = study.release
    if planned is None or planned.form in {"exact", "left out"} or release.synthetic:
        return context
    if planned.form == "bounded":
        return replace(context, loose=True)
    size, seed = planned.people, context.seed
    people = study.kept(("people by hash", size, seed), lambda: people_by_hash(release, size, seed))
    return replace(context, people=people if people.size < len(release.paired_rows) else None)


def _form(planned: Planned | None) -> str:
    """What tells the result of a cheaper form from that of the whole, where it is kept."""
    if planned is None or planned.form == "exact":
        return ""
    return "-bounded" if planned.form == "bounded" else f"-of-{planned.people}"


def run_measure(entry: Measure, release: Release | Study, context: Context) -> Evidence | Absence:
    """Run one measure; what cannot be answered is said, never left out."""
    study = as_study(release)
    reason = entry.applies(study.release)
    if reason:
        return Absence("does not apply", reason)
    return attempt(lambda: entry.run(study, context), show_values=context.show_values)


def attempt(run: Callable[[], Evidence], *, show_values: bool = False) -> Evidence | Absence:
    """Run an attack; one that cannot be answered neither hides the others nor counts as safe."""
    try:
        return run()
    except NothingToTryError as error:
        return Absence("does not apply", str(error).split("\n")[0])
    except UnmaskError as error:
        return Absence("could not run", str(error))
    except MemoryError:
        return Absence("could not run", "it needs more memory than there is")
    except Exception as error:  # noqa: BLE001 - one broken measure must neither hide the others nor count as safe
        tell_where(error, show_values=show_values)
        refused = refused_by_system(error)
        return Absence("could not run", refused or f"an error of unmask itself ({type(error).__name__}); {SEE_WHERE}")


def seed_of(seed: int, entry: Measure) -> int:
    """One child per measure, by name: results do not depend on which others run, or in which order."""
    return int(np.random.SeedSequence([seed, entry.seed]).generate_state(1)[0] % (2**31))


def again_with(measures: Sequence[Measure], plan: Plan | None = None) -> Again:
    """How one attack is run on another draw of the masking: what it finds, or None.

    With a budget other draws are attacked as long as there is time, and `OutOfTimeError` says when there is not.
    """
    by_name = {entry.name: entry for entry in measures}

    def again(name: str, release: Release, seed: int) -> Floats | None:
        entry, left = by_name[name], None if plan is None else plan.left_for_draws
        if plan is not None and left is not None and left <= plan[name].seconds:
            raise OutOfTimeError
        study = Study(release)
        context = with_plan(Context(seed), study, None if plan is None else plan[name])
        evidence = _in_time(entry, study, replace(context, seed=seed_of(seed, entry)), left)
        if isinstance(evidence, Absence) and evidence.late:
            raise OutOfTimeError
        return evidence.per_record if isinstance(evidence, Evidence) else None

    return again
