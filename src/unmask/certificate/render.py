"""A certificate as files: HTML, PDF (by a browser or WeasyPrint, where one is there), and JSON-LD beside either."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from unmask.certificate.content import Certificate
from unmask.errors import EngineError, ParameterError
from unmask.evidence import name_of
from unmask.inert import inert, json_text
from unmask.report import document, headline, percent
from unmask.shares import span
from unmask.tables import write_atomically

SUFFIXES = (".html", ".pdf", ".jsonld")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SECONDS = 120  # a browser that takes longer hangs
CONTEXT = {  # where a term comes from; inline, so that nobody fetches anything
    "@vocab": "urn:unmask:certificate:",
    "schema": "https://schema.org/",
    "id": "@id",
    "issued": "schema:dateCreated",
    "title": "schema:name",
}
VERDICTS = {
    "safe": "The release stayed within the policy in every attack that was tried.",
    "unsafe": "The release must not be given away under this policy.",
    "inconclusive": "The release was not shown to be safe under this policy.",
}


def check_format(path: str | Path) -> None:
    """Refuse, before any work, a file that cannot be made here."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ParameterError(f"cannot write a certificate to {path}", allowed=", ".join(SUFFIXES))
    if suffix == ".pdf" and not can_print():
        raise EngineError(
            "a PDF needs Chromium or WeasyPrint, and neither is there",
            hint="write .html and print it from a browser, or: pip install weasyprint",
        )


def can_print() -> bool:
    """Whether a PDF can be made here."""
    return _browser() is not None or importlib.util.find_spec("weasyprint") is not None


def write(certificate: Certificate, path: str | Path) -> tuple[Path, ...]:
    """Write the certificate in the format of the suffix, and JSON-LD beside it; return what was written."""
    check_format(path)
    target = Path(path)
    linked = target.with_suffix(".jsonld")
    write_atomically(linked, to_jsonld(certificate))
    if target.suffix.lower() == ".jsonld":
        return (linked,)
    page = to_html(certificate)
    write_atomically(target, page if target.suffix.lower() == ".html" else to_pdf(page))
    return target, linked


def to_jsonld(certificate: Certificate) -> str:
    """The certificate as JSON-LD: the same fields, with a context that says what they mean."""
    data: dict[str, Any] = {"@context": CONTEXT, "@type": "schema:Report", **certificate.to_dict()}
    return json_text(data, default=str) + "\n"


def to_html(certificate: Certificate) -> str:
    """The certificate as one page without scripts; everything that comes from data is escaped."""
    environment = Environment(
        loader=PackageLoader("unmask.certificate"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=inert,
    )
    environment.filters |= {"percent": percent, "name": name_of}
    environment.globals["span"] = span
    return environment.get_template("certificate.html.j2").render(
        c=certificate, s=certificate.statement, sentence=_sentence(certificate), outcomes=document.OUTCOMES
    )


def _sentence(certificate: Certificate) -> str:
    """The verdict as somebody may repeat it; with recipients, who may have the release or not."""
    told = [(entry["name"], entry["verdict"]) for entry in certificate.recipients]
    return f"{headline(certificate.verdict, told)}." if told else VERDICTS[certificate.verdict]


def _browser() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def to_pdf(page: str) -> bytes:
    """Print a page, by a browser or WeasyPrint."""
    browser = _browser()
    if browser is None:
        from weasyprint import HTML  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: PLC0415

        made: bytes = HTML(string=page).write_pdf()
        return made
    with tempfile.TemporaryDirectory(prefix="unmask-") as folder:  # private to the user, removed at the end
        source, target = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(page, encoding="utf-8")
        quiet = ("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync")
        command = (browser, "--headless", "--no-sandbox", "--disable-gpu", *quiet, f"--user-data-dir={folder}/profile")
        try:
            subprocess.run(  # noqa: S603 - our own page, a browser by its name
                (*command, "--no-pdf-header-footer", f"--print-to-pdf={target}", source.as_uri()),
                check=True, capture_output=True, timeout=SECONDS,
            )  # fmt: skip
            return target.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise EngineError(
                "the browser could not print the certificate", got=type(error).__name__, hint="write .html instead"
            ) from None
