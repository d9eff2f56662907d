"""`unmask assess`: read, attack, show, write."""

from __future__ import annotations

import shlex
import shutil
import sys
from dataclasses import replace

from unmask.assessment import Assessment, assess, choose, discover, too_few
from unmask.certificate import as_statement, check_format
from unmask.certificate import write as write_certificate
from unmask.certifying import certify
from unmask.cli.fields import roles_of
from unmask.cli.large import attack_large
from unmask.cli.network import attack_network, is_network
from unmask.cli.options import Assess, Link, Tables
from unmask.cli.outputs import EXIT, by_suffix, state_of, tell, write_reports
from unmask.cli.persons import attack_persons, check_many_rows
from unmask.cli.plan import show_plan
from unmask.cli.screen import progress_bar, say
from unmask.cli.targets import check_files, write_findings
from unmask.errors import ParameterError, RepeatedIdError
from unmask.evidence import Policy, as_intruder
from unmask.masking import Synthesiser, parse_masking
from unmask.people import check_by
from unmask.planning import seconds
from unmask.protect import fix_list
from unmask.recipients import Recipient, as_recipients
from unmask.tables import Release


def run(options: Assess) -> int:
    """Attack a release; the verdict is the exit code, and with recipients the worst of their verdicts."""
    if options.plan:
        return plan(options)
    return EXIT[attack(options).verdict]


def plan(options: Assess) -> int:
    """Show what the attacks on a release would take; none is run."""
    if options.engine != "memory":
        raise ParameterError(
            "--plan is for assessments in memory", got=f"--engine {options.engine}", hint="leave it out"
        )
    _refuse_engine(options)
    options = _one_table(options)
    check_files(options)
    policy, _ = _checked(options)
    if is_network(options) or options.many_rows:
        raise ParameterError("--plan is for tables with one row a person", hint="leave out --plan")
    release = release_of(options)
    check_by(release, options.by)
    show_plan(release, options, policy)
    return 0


def attack(options: Assess) -> Assessment:
    """Attack where the tables are counted: in memory, or by an engine."""
    if options.engine != "memory":
        return attack_large(options)
    _refuse_engine(options)
    return _attack_here(options)


def _attack_here(options: Assess) -> Assessment:
    """Read, attack, show and write by the options; all of them are checked before the tables are read."""
    options = _one_table(by_suffix(options))
    check_files(options)
    policy, recipients = _checked(options)
    if is_network(options):
        return attack_network(options, policy)
    try:
        if options.many_rows:
            return _of_persons(options, policy, RepeatedIdError("people have many rows"))
        release = release_of(options)
    except RepeatedIdError as error:
        return _of_persons(options, policy, error)
    check_by(release, options.by)
    if not options.quiet:
        _note_few(release, policy, recipients)
    with progress_bar(quiet=options.quiet) as told:
        assessment = assess(
            release,
            policy=policy,
            only=options.only or None,
            skip=options.skip,
            seed=options.seed,
            progress=told,
            command=shlex.join(["unmask", *sys.argv[1:]]),
            show_values=options.show_values,
            intruder=options.intruder,
            recipients=recipients,
            by=options.by,
            keep=options.keep,
            utility=options.utility,
            resume=(state := state_of(options)),
            budget=options.budget,
        )
    written = write_reports(assessment, options)
    if options.fix is not None:
        written.append(_write_fix(release, options))
    tell(assessment, [*written, *write_certificates(assessment, options)], options)
    if state is not None and options.state is None:
        shutil.rmtree(state, ignore_errors=True)
    return assessment


def _note_few(release: Release, policy: Policy, recipients: tuple[Recipient, ...]) -> None:
    """Say before the work, which may take long, that people are too few to call the release safe."""
    judging = {limits.name: limits for limits in [one.policy(policy) for one in recipients] or [policy]}
    for line in [line for limits in judging.values() for line in too_few(release, limits)]:
        say(f"note: {line}", to_stderr=True)


def _refuse_engine(options: Assess) -> None:
    """Options of an engine without one would be without effect."""
    usual = Assess()
    given = [
        f"--{name}"
        for name in ("memory", "threads", "sample", "master", "work")
        if getattr(options, name) != getattr(usual, name)
    ]
    if given:
        raise ParameterError(
            "these options are for an engine", got=", ".join(given), hint="give --engine duckdb or spark too"
        )


def _checked(options: Assess) -> tuple[Policy, tuple[Recipient, ...]]:
    """The policy and who may get the release; refuse what does not exist before the tables are read."""
    choose(discover(), options.only or None, options.skip)
    as_intruder(options.intruder)
    seconds(options.budget)
    as_statement(options.statement)
    for target in filter(None, (options.certificate, options.public_certificate)):
        check_format(target)
    return Policy.load(options.policy), as_recipients(options.recipients)


def _of_persons(options: Assess, policy: Policy, error: RepeatedIdError) -> Assessment:
    """The id repeats: people have many rows, and are attacked as people."""
    check_many_rows(options, error)
    return attack_persons(options, policy)


def _one_table(options: Assess) -> Assess:
    """A table alone is the release, without an original."""
    if options.original is None and options.released is None:
        raise ParameterError("no table given", hint="name ORIGINAL and RELEASED (or the release alone)")
    if options.released is None:
        return replace(options, original=None, released=options.original)
    return options


def check_tables(options: Tables) -> None:
    """Refuse options without both tables, and files that cannot be read or written."""
    for name in ("original", "released"):
        if getattr(options, name) is None:
            raise ParameterError(f"no {name} table given", hint="name ORIGINAL and RELEASED, or both in --config")
    check_files(options)


def release_of(options: Tables | Link) -> Release:
    """Build the release that the options describe: a role has one name here and there."""
    roles = roles_of(options)
    if roles.get("masking") is not None:
        roles["masking"] = parse_masking(roles["masking"])
    if isinstance(options, Tables) and options.synthesiser is not None:
        roles["masking"] = _synthesiser(options)
    roles["scenario"] = roles.get("scenario") or None
    return Release(options.original, options.released, **roles, reading=options.reading)


def _synthesiser(options: Tables) -> Synthesiser:
    """The command that makes shadow releases."""
    if options.masking is not None:
        raise ParameterError("--masking and --synthesiser both say how the release was made", hint="give one")
    return Synthesiser(str(options.synthesiser), options.time_limit)


def write_certificates(assessment: Assessment, options: Assess) -> list[str]:
    """Write the certificate, and the one for the public, where either is asked for: both from one more assessment."""
    if options.certificate is None and options.public_certificate is None:
        return []
    told = []
    with progress_bar(quiet=options.quiet) as tell:
        made = certify(assessment, statement=options.statement, progress=tell)
    if options.certificate is not None:
        write_certificate(made, options.certificate)
        told.append(f"Certificate: {options.certificate}")
    if options.public_certificate is not None:
        write_certificate(made.for_the_public(), options.public_certificate)
        told.append(f"Certificate for the public: {options.public_certificate}")
    left = as_statement(options.statement).missing
    if left and not options.quiet:
        say(f"note: the certificate does not state {', '.join(left)}; give them in [statement]", to_stderr=True)
    return told


def _write_fix(release: Release, options: Assess) -> str:
    """Write the changes that give every group of the release k records (and l values of the first secret column)."""
    secret = next((name for name in release.confidential if name in release.released.columns), None)
    confidential = secret if options.l > 1 else None
    trees = {n: one for n, one in release.hierarchies.items() if n in release.quasi and one.covers(release.released[n])}
    plan = fix_list(
        release.released, quasi=release.quasi, k=options.k, l=options.l, confidential=confidential, hierarchies=trees
    )
    write_findings(plan.steps(release.released), str(options.fix))
    return f"{plan.words} Written to {options.fix}."
