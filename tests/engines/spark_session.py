"""A program that counts two tables with Spark in a process of its own, and writes the figures: python FILE HOW FOLDER.

HOW is connect, a server of Spark Connect on this machine; or cluster, a master with two workers, of which one is killed
in the middle of the pass over the release, one in the middle of a search for a matching, and one between two queries.
All of it listens on 127.0.0.1 only.
"""

import json
import os
import signal
import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")
QUICK = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


class Killing:
    """A search that kills the executor that runs it, once."""

    def __init__(self, search, flag):
        self.search, self.flag = search, flag
        self.made, self.joined, self.fields = search.made, search.joined, search.fields

    def __call__(self, part):
        try:
            os.close(os.open(self.flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return self.search(part)
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
        os.kill(int(daemon[1]), signal.SIGKILL)  # the parent of Python's daemon: the executor
        return self.search(part)


def executors():
    """Executors that this program started: they descend from it."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = []
    for pid in parents:
        line, one = [], pid
        while one in parents:
            line.append(one)
            one = parents[one]
        words = Path(f"/proc/{pid}/cmdline")
        if os.getpid() in line[1:] and words.exists() and b"CoarseGrainedExecutorBackend" in words.read_bytes():
            found.append(pid)
    return found


def count(how, folder):
    from pyspark.sql import SparkSession

    from engine_figures import KINDS, blocked, copied, figures, quiet
    from unmask import engines

    builder = SparkSession.builder
    for key, value in QUICK.items():
        builder = builder.config(key, value)
    if how == "connect":
        builder = builder.config("spark.connect.grpc.binding.address", "127.0.0.1")
        session = builder.remote("local[2]").getOrCreate()
    else:
        cluster = {"spark.executor.memory": "1g", "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"]}
        for key, value in cluster.items():
            builder = builder.config(key, value)
        session = builder.master("local-cluster[2,1,1024]").getOrCreate()
    frames = [session.read.parquet(str(folder / f"{name}.parquet")).repartition(4) for name in ("original", "released")]
    killed = []

    def during(_done, words):
        if how == "cluster" and words == "sets of attributes" and not killed:
            killed.extend(executors()[:1])
            for one in killed:
                os.kill(one, signal.SIGKILL)

    with engines.open_store(*frames, id="who", kinds=KINDS) as store:
        if how == "cluster":
            plain = store.duck.over_parts

            def killing(query, work, rows):
                name = type(work).__name__  # one executor is killed by a Search, and one by a Spread
                chosen = Killing(work, str(folder / f"killed-{name}")) if name in {"Search", "Spread"} else work
                return plain(query, chosen, rows)

            store.duck.over_parts = killing
        told = figures(store, during=during if how == "cluster" else quiet)
        left = sorted(path.name for path in Path(store.duck._work).iterdir())
    told["copied"] = copied(*frames, session.read.parquet(str(folder / "control.parquet")).repartition(2))
    told["blocked"] = blocked(frames[0], session.read.parquet(str(folder / "noisy.parquet")).repartition(3))
    views = [table.name for table in session.catalog.listTables()]
    told |= {"killed": len(killed), "views": views, "inside": left, "outside": Path(store.duck._work).exists()}
    told["classic"] = "connect" not in type(session).__module__
    (folder / f"{how}.json").write_text(json.dumps(told))
    session.stop()


if __name__ == "__main__":
    count(sys.argv[1], Path(sys.argv[2]))
