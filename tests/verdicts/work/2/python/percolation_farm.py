"""Estimates percolation thresholds with two long-lived worker processes speaking JSON lines."""
import json
import random
import statistics
import subprocess
import sys
import threading


def find(parent, site):
    root = site
    while parent[root] != root:
        root = parent[root]
    while parent[site] != root:
        parent[site], site = root, parent[site]
    return root


def threshold(side, seed):
    rng = random.Random(seed)
    cells = side * side
    top, bottom = cells, cells + 1
    parent = list(range(cells + 2))
    weight = [1] * (cells + 2)
    filled = bytearray(cells)
    order = list(range(cells))
    rng.shuffle(order)
    for count, site in enumerate(order, 1):
        filled[site] = 1
        row, column = divmod(site, side)
        near = []
        if row == 0:
            near.append(top)
        elif filled[site - side]:
            near.append(site - side)
        if row == side - 1:
            near.append(bottom)
        elif filled[site + side]:
            near.append(site + side)
        if column and filled[site - 1]:
            near.append(site - 1)
        if column < side - 1 and filled[site + 1]:
            near.append(site + 1)
        a = find(parent, site)
        for other in near:
            b = find(parent, other)
            if a != b:
                if weight[a] < weight[b]:
                    a, b = b, a
                parent[b] = a
                weight[a] += weight[b]
        if (row == 0 or row == side - 1 or near) and find(parent, top) == find(parent, bottom):
            return count / cells
    return 1.0


def serve():
    for line in sys.stdin:
        job = json.loads(line)
        values = [threshold(job["side"], seed) for seed in job["seeds"]]
        print(json.dumps({"job": job["job"], "values": values}), flush=True)


class Farm:
    def __init__(self, count):
        command = [sys.executable, __file__, "serve"]
        self.workers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                        for _ in range(count)]
        self.results = {}

    def _drive(self, worker, jobs, lock):
        while True:
            with lock:
                job = next(jobs, None)
            if job is None:
                worker.stdin.close()
                worker.wait()
                worker.stdout.close()
                return
            worker.stdin.write(json.dumps(job) + "\n")
            worker.stdin.flush()
            answer = json.loads(worker.stdout.readline())
            self.results[answer["job"]] = answer["values"]

    def run(self, jobs):
        lock = threading.Lock()
        jobs = iter(jobs)
        drivers = [threading.Thread(target=self._drive, args=(w, jobs, lock)) for w in self.workers]
        for driver in drivers:
            driver.start()
        for driver in drivers:
            driver.join()
        return [v for job in sorted(self.results) for v in self.results[job]]


def main():
    jobs = [{"job": n, "side": 110, "seeds": list(range(n * 6, n * 6 + 6))} for n in range(90)]
    values = Farm(2).run(jobs)
    print(f"runs {len(values)} threshold {statistics.mean(values):.5f} sd {statistics.stdev(values):.5f}")


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else main()
