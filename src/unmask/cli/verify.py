"""`unmask verify`: run a report again and compare."""

from __future__ import annotations

from pathlib import Path

from unmask.certificate import check_signature
from unmask.cli.report_options import Verify
from unmask.cli.screen import progress_bar, say
from unmask.cli.targets import check_files
from unmask.verify import verify


def run(options: Verify) -> int:
    """Run the manifest again; 0 when the result is the same, else 1 and what differs or is called otherwise now."""
    check_files(options)
    certificate = Path(options.report).suffix.lower() == ".jsonld"
    if certificate or options.key is not None or Path(f"{options.report}.sig").exists():
        code = _signed(options)
        if certificate or code:
            return code
    with progress_bar() as tell:
        result = verify(options.report, original=options.original, released=options.released, progress=tell)
    if result.same:
        say(f"the same result (verdict: {result.verdict})")
        return 0
    say("not the same result" if result.differences else "the same figures, under names that have moved")
    for line in (*result.differences, *result.moved):
        say(f"  {line}")
    if result.since:
        say("what has changed in unmask since the version that wrote the report")
    for line in result.since:
        say(f"  {line}")
    return 1


def _signed(options: Verify) -> int:
    """Check the signature beside a certificate: 0 when it holds, else 1."""
    found = check_signature(options.report, key=options.key)
    if found["problem"]:
        say(f"the signature does not hold: {found['problem']}")
        return 1
    who = found["name"] or "somebody without a name"
    whose = "by the key you gave" if options.key else f"by the key {found['public_key']}; --key checks whose it is"
    say(f"signed by {who} on {found['at']}, {whose}; nothing was changed since")
    return 0
