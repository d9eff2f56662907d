"""`unmask sign`: the reviewer's signature under a certificate."""

from __future__ import annotations

from unmask.certificate import new_key, sign_file
from unmask.cli.report_options import Sign
from unmask.cli.screen import say
from unmask.cli.targets import check_files
from unmask.errors import ParameterError


def run(options: Sign) -> int:
    """Make keys, or sign a file; 0 when it is done."""
    if options.new_key is None and (options.file is None or options.key is None):
        raise ParameterError(
            "nothing to sign, or no key to sign with",
            hint="unmask sign certificate.jsonld --key reviewer.pem; unmask sign --new-key reviewer.pem makes a key",
        )
    if options.new_key is not None and options.file is not None:
        raise ParameterError("--new-key makes keys and signs nothing", hint="first the keys, then the signature")
    check_files(options)
    if options.new_key is not None:
        public = new_key(options.new_key)
        say(f"keep {options.new_key} to yourself; give {public} to those who shall check your signature")
    else:
        say(f"signed: {sign_file(str(options.file), str(options.key), name=options.name)}")
    return 0
