"""`deid serve` under load: requests a second, how long they take, and memory meanwhile.

    python benchmarks/serve.py [--seconds 20] [--clients 1,8,32] [--workers 2] [--soak 0] [--detector ensemble]

Clients of this process send whole notes of the library's authors in English, one a request, each with a row of the
roster, and ask again as soon as they are answered. Beside the seconds of the clock stand those of the processor that
the service used for a request, since a shared machine has no core free. `--soak 3600` then has 8 clients ask for an
hour, and shows memory each minute. Memory is the proportional share (PSS) of all processes of the service: what they
share counts once.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import count

import numpy as np
import psutil

from deid_platform.corpora.library.authors import Use, authors, notes_by

COMMAND = "from deid_platform.cli import main; main()"
_SOAKING = 8  # clients
_LOADING = 600  # seconds


def bodies() -> list[bytes]:
    """Requests, shuffled so that neighbours are of different authors."""
    texts = [item.gold.note.text for one in authors(Use.TRAINING, language="en") for item in notes_by(one)]
    row = {"patient_id": "p", "first_name": "Ottoline", "last_name": "Vexworth", "birth_date": "1949-03-14"}
    order = np.random.default_rng(7).permutation(len(texts))
    return [json.dumps({"notes": [{"text": texts[place], "patient": row}]}).encode() for place in order]


@contextmanager
def served(workers: int, detector: str) -> Iterator[tuple[int, psutil.Process]]:
    """The port of a service that is ready, and its process."""
    options = ["--port", "0", "--workers", str(workers), "--detector", detector]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen([sys.executable, "-c", COMMAND, "serve", *options], stderr=log)
        try:
            for _ in range(_LOADING):
                time.sleep(1)
                log.seek(0)
                said = log.read()
                if '"ready": true' in said:
                    break
            else:
                raise SystemExit(said)
            yield int(re.search(r":(\d+) ", said)[1]), psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait()


def load(port: int, sent: Sequence[bytes], clients: int, seconds: float) -> tuple[list[float], Counter[str]]:
    """Seconds of each answer, and what the answers were."""
    took: list[float] = []
    outcomes: Counter[str] = Counter()
    numbers, until = count(), time.monotonic() + seconds

    def client() -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=120)) as connection:
            while time.monotonic() < until:
                begun = time.perf_counter()
                body = sent[next(numbers) % len(sent)]
                connection.request("POST", "/v1/redact", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                said = json.loads(answer.read())
                took.append(time.perf_counter() - begun)
                outcomes[_outcome(answer.status, said)] += 1

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return took, outcomes


def _outcome(status: int, said: dict[str, object]) -> str:
    if status != 200:
        return f"{status} {said['error']['code']}"
    withheld = said["notes"][0].get("withheld")
    return withheld["code"] if withheld else "redacted"


def megabytes(service: psutil.Process) -> float:
    """The proportional share of the service and of all processes below it."""
    total = 0
    for process in (service, *service.children(recursive=True)):
        try:
            total += process.memory_full_info().pss
        except psutil.NoSuchProcess:
            continue
    return total / 1e6


def processor_seconds(service: psutil.Process) -> float:
    """What the service and all processes below it have used."""
    total = 0.0
    for process in (service, *service.children(recursive=True)):
        try:
            used = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += used.user + used.system
    return total


def soak(port: int, service: psutil.Process, sent: Sequence[bytes], seconds: float, every: float) -> None:
    """Prints memory while clients ask."""
    asking = threading.Thread(target=load, args=(port, sent, _SOAKING, seconds))
    begun = time.monotonic()
    asking.start()
    print(f"\n{_SOAKING} clients for {seconds:,.0f} s\n  seconds      MB  processes")
    while asking.is_alive():
        processes = 1 + len(service.children(recursive=True))
        print(f"  {time.monotonic() - begun:7,.0f} {megabytes(service):7,.0f}  {processes:9}", flush=True)
        asking.join(every)


def main() -> None:
    """Prints all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--clients", default="1,8,32")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--soak", type=float, default=0, help="seconds; 3600 is the hour")
    parser.add_argument("--every", type=float, default=60, help="seconds between two lines of memory")
    parser.add_argument("--detector", default="ensemble")
    arguments = parser.parse_args()
    sent = bodies()
    print(f"{len(sent):,} notes, {np.mean([len(body) for body in sent]):,.0f} bytes a request on average")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before, {arguments.workers} workers")
    with served(arguments.workers, arguments.detector) as (port, service):
        print(f"ready with {megabytes(service):,.0f} MB")
        print(" clients  requests/s   p50 s   p99 s  processor s      MB  answers")
        for clients in map(int, arguments.clients.split(",")):
            before, those = processor_seconds(service), service.children(recursive=True)
            begun = time.monotonic()
            took, outcomes = load(port, sent, clients, arguments.seconds)
            middle, late = np.percentile(took, (50, 99))
            said = ", ".join(f"{outcome} {number:,}" for outcome, number in outcomes.most_common())
            # What ended meanwhile took its count along.
            same = those == service.children(recursive=True)
            used = (processor_seconds(service) - before) / len(took) if same else float("nan")
            rate = len(took) / (time.monotonic() - begun)  # with the answers that were waited for at the end
            times = f"{rate:11.1f} {middle:7.2f} {late:7.2f} {used:12.2f}"
            print(f"{clients:8} {times} {megabytes(service):7,.0f}  {said}", flush=True)
        if arguments.soak:
            soak(port, service, sent, arguments.soak, arguments.every)


if __name__ == "__main__":
    main()
