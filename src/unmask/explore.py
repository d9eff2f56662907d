"""Which masking, and how strong? Try many, attack each, and say what is found and what is left of the data.

Points get as much time as they deserve: a glance (nearest-record linkage of some people, utility), then the attacks
that the policy asks for, and for the most useful ones that are still safe everything there is, until one is.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from unmask.axes import check_axes
from unmask.errors import ParameterError
from unmask.evidence import Policy, Progress, silent
from unmask.masking import parse_masking
from unmask.protect import Frontier, Point, Stage, Store, opened
from unmask.trying import Job, begin, with_hierarchies

Task = tuple[str, int, Point | None]  # a masking, its seed, and what a glance has shown


def explore(  # noqa: PLR0913 - the options of a search
    original: object,
    maskings: Iterable[str] | None = None,
    *,
    policy: Policy | str | Path | None = None,
    intruder: str = "maximum",
    keep: Iterable[str] = (),
    hierarchies: Mapping[str, str] | None = None,
    seeds: int = 1,
    seed: int = 0,
    budget: float | None = None,
    folder: str | Path | None = None,
    resume: bool = False,
    jobs: int = 1,
    axes: Iterable[str] = (),
    glance: bool = False,
    progress: Progress | None = None,
    **roles: Any,  # noqa: ANN401 - those of a Release
) -> Frontier:
    """Try maskings of a table: what would be found, and what would be left of the data?

    Parameters
    ----------
    original
        The table, a path or any frame.
    maskings
        Texts such as "noise(0.5)"; None: some for the kinds of the columns that the intruder knows.
    policy, intruder
        Who judges, and who attacks: as in `assess`.
    keep
        Analyses that must come out, such as "mean(income) by region": they count in what is left.
    hierarchies
        Files with coarser words for the values of a column, as ARX writes them: what is suggested then uses them.
    seeds
        Draws of each masking.
    budget
        Seconds after which no further point is begun.
    folder, resume
        Where every finished point is kept; ``resume`` goes on with a run that was stopped.
    jobs
        Processes at a time.
    axes
        Other figures of each release: "correlations", "distance", "error(COLUMN)", "variance", "precision".
    glance
        Only look: no release is attacked with more than nearest-record linkage, and none is called safe.
    progress
        Called with the fraction done and a word.
    **roles
        As of a ``Release``: ``id``, ``quasi``, ``confidential``, ``ignored``, ``kinds`` ...

    """
    job, release, about = begin(original, policy, intruder, tuple(keep), seed, roles)
    job = with_hierarchies(replace(job, axes=check_axes(axes, release.quasi)), hierarchies, release)
    about |= {"axes": list(job.axes)} if job.axes else {}
    texts = tuple(maskings) if maskings is not None else job.suggestions(release)
    texts = tuple(dict.fromkeys(str(parse_masking(text)) for text in texts))
    if not texts:
        raise ParameterError("there is no masking to try", hint='name some, such as "noise(0.5)"')
    if seeds < 1 or jobs < 1:
        raise ParameterError("seeds and jobs are numbers from 1", got=f"{seeds} and {jobs}")
    wanted = [(text, seed + 1 + draw) for draw in range(seeds) for text in texts]
    until = time.monotonic() + budget if budget is not None else None
    with opened(folder, about, resume=resume) as store:
        points = Search(job, jobs, store, until, progress or silent).points(wanted, attacked=not glance)
    points.sort(key=lambda point: (-point.utility, point.risk, point.masking, point.seed))
    return Frontier(
        tuple(points),
        release.original.height,
        job.policy.name,
        job.policy.threshold("nearest.rate").value,
        len(wanted) - len(points),
    )


@dataclass(frozen=True)
class Search:
    """Points are tried in three rounds; those that are kept already are not tried again."""

    job: Job
    jobs: int
    store: Store | None
    until: float | None
    progress: Progress

    def points(self, wanted: list[tuple[str, int]], *, attacked: bool = True) -> list[Point]:
        """Try all, as far as there is time."""
        glances = self._round("glance", [(*key, None) for key in wanted], (0.0, 0.2))
        if not attacked:
            self.progress(1.0, "done")
            return glances
        open_ = [point for point in glances if point.verdict == "open"]
        hopeless = [point for point in glances if point.verdict != "open"]
        open_.sort(key=lambda point: (-point.utility, point.masking))
        core = self._core(open_)
        safe = sorted((p for p in core if p.verdict == "safe"), key=lambda point: (-point.utility, point.masking))
        whole: list[Point] = []
        for place, point in enumerate(safe):
            whole += self._round("whole", [(point.masking, point.seed, point)], (0.8 + 0.2 * place / len(safe), 1.0))
            if not whole or whole[-1].verdict == "safe":
                break
        done = {(p.masking, p.seed): p for p in [*hopeless, *core, *whole]}
        self.progress(1.0, "done")
        return list(done.values())

    def _core(self, open_: list[Point]) -> list[Point]:
        """Attack a draw of each masking, then other draws of those that it did not show to be unsafe."""
        first: dict[str, Point] = {}
        for point in sorted(open_, key=lambda point: point.seed):
            first.setdefault(point.masking, point)
        rest = [point for point in open_ if point != first[point.masking]]
        ahead = [point for point in open_ if point == first[point.masking]]
        done = self._round("core", [(p.masking, p.seed, p) for p in ahead], (0.2, 0.6))
        unsafe = {p.masking: f"another draw of it is unsafe: {p.reason}" for p in done if p.verdict == "unsafe"}
        given_up = [replace(p, verdict="unsafe", reason=unsafe[p.masking]) for p in rest if p.masking in unsafe]
        more: list[Task] = [(p.masking, p.seed, p) for p in rest if p.masking not in unsafe]
        return [*done, *given_up, *self._round("core", more, (0.6, 0.8))]

    def _round(self, stage: Stage, tasks: list[Task], part: tuple[float, float]) -> list[Point]:
        found, left = [], []
        for masking, seed, glance in tasks:
            kept = self.store.find(masking, seed, stage) if self.store is not None else None
            found += [kept] if kept is not None else []
            left += [] if kept is not None else [(masking, seed, glance)]
        begun = (point for point in self._begun(stage, left) if point is not None)
        for point in begun:
            found.append(point)
            if self.store is not None:
                self.store.keep(point)
            self.progress(part[0] + (part[1] - part[0]) * len(found) / len(tasks), f"{stage}: {point.masking}")
        return found

    def _begun(self, stage: Stage, tasks: list[Task]) -> Iterator[Point | None]:
        """Try one after the other, or several at a time, each in a process of its own."""
        if self.jobs == 1 or len(tasks) < 2:
            yield from (_try(self.job, self.until, stage, *task) for task in tasks)
            return
        with ProcessPoolExecutor(self.jobs, get_context("spawn")) as pool:
            begun = [pool.submit(_try, self.job, self.until, stage, *task) for task in tasks]
            yield from (future.result() for future in as_completed(begun))


def _try(job: Job, until: float | None, stage: Stage, masking: str, seed: int, glance: Point | None) -> Point | None:
    """Try a masking; None where the time is over."""
    if until is not None and time.monotonic() > until:
        return None
    return job.glance(masking, seed) if glance is None else job.attack(masking, seed, stage, glance)
