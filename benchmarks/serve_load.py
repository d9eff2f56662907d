"""`unmask serve` under load: many browsers and a long queue. Is a job lost, does memory grow, do pages wait?

A real server process, driven over loopback as browsers drive it: every session enters by the printed address, chooses
the same two small tables again and again until the jobs are queued, asks every second how far its job is (as the page's
script does) and looks at a page every few seconds: the list of everything, and its own check. Meanwhile the memory of
the server (not of its jobs) is noted. After the time is over sessions end, one browser asks for each page many times to
see what it costs the server in processor time (which other work on the machine does not change as it changes waiting),
and the queue is left to run empty.

    python benchmarks/serve_load.py                                    # 50 sessions, 200 jobs, 10 minutes
    python benchmarks/serve_load.py --sessions 4 --jobs 12 --minutes 0.2 --output somewhere.json
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import httpx2

import unmask
from unmask.web.work import SAYS

RESULTS = Path(__file__).parent / "results" / "serve_load.json"
PAGE = 4  # a page is looked at instead of the progress every so many seconds
NOTE = 5.0  # seconds between two notes of the memory
COST = 100  # answers of a kind by which its cost is measured
PATIENCE = 30.0  # minutes, at most, that the queue is left to run empty after the sessions have ended


@contextmanager
def serving(folder: Path):
    """Start a server of its own; the process, and the address that it printed."""
    command = [sys.executable, "-m", "unmask", "serve", "--folder", str(folder / "serve")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder) as process:
        try:
            yield process, re.search(r"http://\S+", process.stdout.readline())[0]
        finally:
            process.terminate()


def tables(folder: Path) -> dict[str, str]:
    """Write sixty people and a release of them; where they are, as the form asks for it."""
    people = unmask.datasets.patients(60, seed=5).select("patient", "sex", "height", "cost")
    people.write_csv(folder / "people.csv")
    unmask.parse_masking("noise(0.3)").apply(people, 1).write_csv(folder / "release.csv")
    return {"original_path": str(folder / "people.csv"), "released_path": str(folder / "release.csv")}


class Load:
    """What the sessions share, and what they saw."""

    def __init__(self, address: str, form: dict[str, str], jobs: int, seconds: float) -> None:
        self.address, self.form, self.left, self.until = address, form, jobs, time.monotonic() + seconds
        self.took: dict[str, list[float]] = {"page": [], "progress": [], "choose": []}
        self.cases: list[str] = []
        self.wrong: Counter[str] = Counter()
        self.cost: dict[str, float] = {}  # milliseconds of the server's processor time for an answer
        self.loads: list[float] = []

    async def ask(self, kind: str, client: httpx2.AsyncClient, method: str, path: str, **more) -> httpx2.Response:
        began = time.perf_counter()
        answer = await client.request(method, path, **more)
        self.took[kind].append(time.perf_counter() - began)
        if answer.status_code not in {200, 303}:
            self.wrong[f"{kind}: {answer.status_code}"] += 1
        return answer

    async def enter(self, client: httpx2.AsyncClient) -> tuple[httpx2.Response, str]:
        first = await client.get(self.address, follow_redirects=True)
        return first, str(first.url).rstrip("/")

    async def weigh(self, pid: int) -> None:
        """What an answer of each kind costs the server, with all cases there."""
        async with httpx2.AsyncClient(timeout=60) as client:
            _, root = await self.enter(client)
            check = f"/case/{self.cases[-1]}/check"
            found = re.search(r'data-follow="[^"]*(/job/[^"]+)"', (await client.get(f"{root}{check}")).text)
            paths = {"list of everything": "/", "check": check} | ({"progress": found[1]} if found else {})
            for kind, path in paths.items():
                before = processor(pid)
                for _ in range(COST):
                    await client.get(f"{root}{path}")
                self.cost[kind] = round(1000 * (processor(pid) - before) / COST, 2)

    async def session(self, wait: float) -> None:
        """One browser: enter, choose tables while jobs are wanted, follow them, look around."""
        await asyncio.sleep(wait)
        async with httpx2.AsyncClient(timeout=60) as client:
            first, root = await self.enter(client)
            token = re.search(r'name="form_token" value="([^"]+)"', first.text)[1]
            origin = {"origin": f"http://{first.url.netloc.decode()}"}
            mine, follow, turn = "", "", 0
            while time.monotonic() < self.until:
                if self.left > 0:
                    self.left -= 1
                    sent = {"data": {"form_token": token, **self.form}, "headers": origin}
                    answer = await self.ask("choose", client, "POST", f"{root}/cases", **sent)
                    mine = answer.headers.get("location", "").rsplit("/", 2)[-2]
                    self.cases.append(mine)
                if turn % PAGE == 0:
                    path = "/" if turn % (2 * PAGE) else f"/case/{mine}/check"
                    page = await self.ask("page", client, "GET", f"{root}{path}")
                    found = re.search(r'data-follow="([^"]+)"', page.text)
                    follow = found[1] if found else follow
                elif follow:
                    await self.ask("progress", client, "GET", f"{root.rsplit('/', 1)[0]}{follow}")
                turn += 1
                await asyncio.sleep(1.0)


def resident(pid: int) -> float:
    """Memory of a process that is really there, in megabytes."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return round(int(found[1]) / 1024, 1)


def processor(pid: int) -> float:
    """Seconds of processor time of a process itself, without its jobs."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


async def watch(pid: int, load: Load, began: float) -> list[tuple[int, float]]:
    """Note the memory of the server, and how busy the machine is, until it is over."""
    noted = []
    while True:
        noted.append((round(time.monotonic() - began), resident(pid)))
        load.loads.append(os.getloadavg()[0])
        if time.monotonic() >= load.until:
            return noted
        await asyncio.sleep(min(NOTE, max(load.until - time.monotonic(), 0.1)))


def states(folder: Path) -> Counter[str]:
    found = (json.loads(path.read_text()) for path in folder.glob("serve/jobs/*/job.json"))
    return Counter(job["state"] for job in found)


def failures(folder: Path) -> Counter[str]:
    """The last line that each job said which ended without a result."""
    jobs = [path.parent for path in folder.glob("serve/jobs/*/job.json")]
    failed = [job for job in jobs if json.loads((job / "job.json").read_text())["state"] == "failed"]
    said = [(job / SAYS).read_text().strip().splitlines() if (job / SAYS).exists() else [] for job in failed]
    return Counter(lines[-1] if lines else "nothing" for lines in said)


async def drive(pid: int, load: Load, sessions: int) -> list[tuple[int, float]]:
    browsers = [load.session(number / sessions) for number in range(sessions)]
    before = processor(pid)
    noted, *_ = await asyncio.gather(watch(pid, load, time.monotonic()), *browsers)
    answers = sum(map(len, load.took.values()))
    load.cost["all answers of the run"] = round(1000 * (processor(pid) - before) / answers, 2)
    await load.weigh(pid)
    return noted


def run(sessions: int, jobs: int, minutes: float, patience: float = PATIENCE) -> dict[str, object]:
    """Drive a server; what was seen."""
    with tempfile.TemporaryDirectory() as name, serving(Path(name)) as (process, address):
        folder = Path(name)
        load = Load(address, tables(folder), jobs, 60 * minutes)
        noted = asyncio.run(drive(process.pid, load, sessions))
        at_the_end, until = states(folder), time.monotonic() + 60 * patience
        while states(folder)["queued"] + states(folder)["running"] and time.monotonic() < until:
            time.sleep(1)
        after, failed = states(folder), failures(folder)
        last, alive = resident(process.pid), process.poll() is None
        process.terminate()
        errors = process.communicate(timeout=60)[1]
    return {
        "sessions": sessions, "jobs": jobs, "minutes": minutes,
        "machine": {"cores": os.cpu_count(), "processor": platform.machine(), "python": platform.python_version(),
                    "load average": [round(min(load.loads), 1), round(statistics.median(load.loads), 1),
                                     round(max(load.loads), 1)]},
        "asked for": len(load.cases), "different": len(set(load.cases)),
        "states when the sessions ended": dict(at_the_end), "states at the end": dict(after),
        "what failed jobs said": dict(failed),
        "wrong answers": dict(load.wrong), "alive at the end": alive, "standard error": errors,
        "milliseconds": {kind: spread(times) for kind, times in load.took.items()},
        "milliseconds of the server's processor time": load.cost,
        "memory of the server, MB": {"by second": noted, "when the queue was empty": last},
    }  # fmt: skip


def spread(times: list[float]) -> dict[str, float]:
    """How many, the middle one, the slowest hundredth and the slowest."""
    found = sorted(1000 * entry for entry in times)
    if not found:
        return {"n": 0}
    hundredth = found[min(len(found) - 1, round(0.99 * len(found)))]
    return {"n": len(found), "median": round(statistics.median(found), 1), "p99": round(hundredth, 1),
            "slowest": round(found[-1], 1), "over a second": sum(entry > 1000 for entry in found)}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--patience", type=float, default=PATIENCE, help="minutes for the queue to run empty")
    parser.add_argument("--output", type=Path, default=RESULTS)
    asked = parser.parse_args()
    found = run(asked.sessions, asked.jobs, asked.minutes, asked.patience)
    asked.output.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps({name: value for name, value in found.items() if name != "memory of the server, MB"}, indent=1))


if __name__ == "__main__":
    main()
