"""The server as it is started: one address on this machine, an end when nobody is there, nothing left of uploads."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import httpx2
import pytest

from command_line import run, shell
from unmask.web.server import Settings, serve
from unmask.web.store import Store, opened
from web_pages import wait


@contextmanager
def serving(folder, *words):
    """A server of its own; the address that it printed, and the process."""
    command = [sys.executable, "-m", "unmask", "serve", "--folder", str(folder), *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield re.search(r"http://\S+", process.stdout.readline())[0], process
        finally:
            process.kill()


def uploaded(address, client):
    """Enter and upload two files."""
    page = client.get(address, follow_redirects=True)
    root, token = str(page.url), re.search(r'name="form_token" value="([^"]+)"', page.text)[1]
    files = {f"{side}_file": (f"{side}.csv", b"age,town\n31,x\n42,y\n") for side in ("original", "released")}
    origin = {"origin": f"http://{page.url.netloc.decode()}"}
    answer = client.post(f"{root}cases", data={"form_token": token}, files=files, headers=origin)
    assert answer.status_code == 303
    return root


def test_uploads_are_deleted_when_it_is_ended_and_jobs_stay(tmp_path):
    folder = tmp_path / "serve"
    with serving(folder) as (address, process), httpx2.Client() as client:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{16}/enter\?token=[\w-]{43}", address)
        uploaded(address, client)
        assert len(list(folder.rglob("*.csv"))) == 2
        assert folder.stat().st_mode & 0o777 == 0o700
        port = address.split(":")[2].split("/")[0]
        assert client.get(f"http://127.0.0.1:{port}/").status_code == 403
        second = shell("serve", "--folder", folder)
        assert second.returncode == 2 and "another `unmask serve` works in" in second.stderr
        taken = shell("serve", "--folder", tmp_path / "other", "--port", port)
        assert taken.returncode == 2 and f"port {port} cannot be used" in taken.stderr
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=30)
    assert process.returncode == 0 and errors == "" and "age" not in out
    assert not list(folder.rglob("*.csv")) and len(list(folder.glob("cases/*.json"))) == 1
    (job,) = Store(folder).all_jobs()
    assert job.state in {"interrupted", "done", "failed"}


def test_it_ends_when_nobody_asks(tmp_path):
    with serving(tmp_path / "serve", "--idle", "1.5s") as (address, process), httpx2.Client() as client:
        root = uploaded(address, client)
        wait(lambda: process.poll() is not None)
        with pytest.raises(httpx2.ConnectError):
            client.get(root)
    assert process.returncode == 0
    assert not (tmp_path / "serve" / "private").exists()
    (job,) = Store(tmp_path / "serve").all_jobs()
    assert job.state in {"done", "failed"}  # it was not ended while the job ran


def test_without_the_packages_it_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr("unmask.cli.serve.find_spec", lambda name: None if name == "uvicorn" else name)
    assert run("serve") == 2
    told = capsys.readouterr().err
    assert "uvicorn" in told and "unmask[web]" in told and "make serve" in told


@pytest.mark.parametrize("words", [("--port", "70000"), ("--idle", "soon"), ("--idle", "0s"), ("--upload-limit", "0")])
def test_options_that_cannot_be_are_refused(words, tmp_path, capsys):
    assert run("serve", "--folder", tmp_path / "serve", *words) == 2
    assert not (tmp_path / "serve").exists() and "unmask: " in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_said(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert run("serve", "--folder", tmp_path / "file" / "serve") == 2
    assert "cannot write in" in capsys.readouterr().err


def test_a_folder_of_other_files_is_left_alone(tmp_path, capsys):
    kept = tmp_path / "private" / "thesis.txt"
    kept.parent.mkdir(mode=0o755)
    kept.write_text("mine")
    assert run("serve", "--folder", tmp_path) == 2
    assert "holds other files" in capsys.readouterr().err and kept.read_text() == "mine"
    assert kept.parent.stat().st_mode & 0o777 == 0o755
    with opened(tmp_path / "new"):
        pass
    with opened(tmp_path / "new") as store:  # one of ours
        assert store.all_jobs() == []


def test_what_cannot_be_read_is_no_case(tmp_path):
    with opened(tmp_path / "serve") as store:
        (store.cases / f"{'0' * 32}.json").write_text("{")
        (store.cases / f"{'1' * 32}.json").write_text('{"id": 1, "created": 2, "more": 3}')
        (store.cases / f"{'2' * 32}.json").write_text('{"id": "2", "created": 2}')
        assert store.all_cases() == []


def test_whoever_opens_the_address_at_once_is_not_refused(tmp_path):
    """The address is told when connections are taken already: they wait until the first page can be made."""
    tried = []

    def open_at_once(words):
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", words)
        if found:
            with socket.create_connection(("127.0.0.1", int(found[1])), timeout=5) as here:
                tried.append(here.getpeername()[0])

    serve(Settings(tmp_path / "serve", idle=0.1), open_at_once)
    assert tried == ["127.0.0.1"]
