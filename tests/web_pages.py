"""What the tests of the web page share: a site without a server, and forms as a browser sends them."""

from __future__ import annotations

import json
import re
import time

from starlette.testclient import TestClient

from unmask.web.app import Site, build
from unmask.web.jobs import Runner
from unmask.web.security import Guard, Keys
from unmask.web.store import Store

HOST = "127.0.0.1:8000"
LIMIT = 200_000  # bytes of an upload


class Browser:
    """A client that has entered, with the store and the runner behind it; jobs run when it is told so."""

    def __init__(self, folder, limit=LIMIT, *, enter=True):
        self.keys, self.store = Keys(), Store(folder)
        self.runner = Runner(self.store)
        site = Site(self.keys, self.store, self.runner, limit)
        self.guard = Guard(build(site), self.keys, (HOST,), limit)
        self.client = TestClient(self.guard, base_url=f"http://{HOST}", raise_server_exceptions=False)
        if enter:
            self.enter()

    def enter(self, token=None):
        return self.get("/enter", params={"token": self.keys.token if token is None else token})

    def get(self, path, **more):
        return self.client.get(f"{self.keys.root}{path}", **more)

    def post(self, path, data=None, *, origin=f"http://{HOST}", token=None, headers=None, **more):
        """Send a form as our own page does, or a little otherwise."""
        fields = {"form_token": self.keys.form if token is None else token, **(data or {})}
        headers = {**({"origin": origin} if origin else {}), **(headers or {})}
        return self.client.post(f"{self.keys.root}{path}", data=fields, headers=headers, **more)

    def choose(self, original, released, **more):
        """Choose two files by their paths; the case that came of it."""
        answer = self.post("/cases", {"original_path": str(original), "released_path": str(released)}, **more)
        assert answer.status_code == 200, answer.text
        return self.store.all_cases()[0]

    def pretend(self, case, kind, files, **more):
        """A job that is done, with the files that it would have written."""
        job = self.store.new_job(case, kind, (kind, case.original), id=f"{len(self.store.all_jobs()):032x}")
        for name, content in files.items():
            text = content if isinstance(content, str) else json.dumps(content)
            (self.store.place(job) / name).write_text(text)
        done = type(job)(**{**_fields(job), "state": "done", "code": 0, **more})
        self.store.save_job(done)
        return done


def _fields(job):
    return {name: getattr(job, name) for name in job.__slots__}


def wait(true, seconds=60):
    """Wait until something is so."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


CHECKED = {
    "check": {"passed": True, "pairing": "paired", "words": "Rows are paired. 'nr' could be an id: --id nr.",
              "identifiers": []},
    "columns": [
        {"name": name, "kind": "numeric", "role": "quasi", "reason": "numbers", "original": "numbers", "rule": "",
         "released": there, "own": 0.5}
        for name, there in (("nr", "numbers"), ("age", "numbers"), ("a, b", "numbers"), ("mail", "texts"), ("old", ""))
    ],
    "roles": {"nr": "quasi", "age": "quasi", "a, b": "quasi", "mail": "direct", "old": "quasi"},
    "ids": ["nr"],
}  # fmt: skip


def tokens(page):
    """Forms of a page and how many of them hold the form's token."""
    forms = re.findall(r"<form.*?</form>", page, flags=re.DOTALL)
    return len(forms), sum('name="form_token"' in form for form in forms)
