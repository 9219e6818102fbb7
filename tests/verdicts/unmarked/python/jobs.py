"""A small job scheduler: jobs depend on each other and run on one worker thread."""
import hashlib
import queue
import threading
import time


class Job:
    def __init__(self, name, size, needs):
        self.name = name
        self.size = size
        self.needs = needs
        self.result = None
        self.done = False
        self.finished = threading.Event()


def make_jobs(count):
    jobs = []
    for i in range(count):
        needs = [jobs[i - 1]] if i else []
        if i > 7:
            needs.append(jobs[i - 7])
        jobs.append(Job(f"job-{i}", 3 + i % 4, needs))
    return jobs


def digest(name, rounds):
    h = name.encode()
    for _ in range(rounds * 250):
        h = hashlib.sha256(h).digest()
    return h.hex()


def run_job(job):
    seed = job.name + "".join(n.result[:8] for n in job.needs)
    job.result = digest(seed, job.size)
    job.done = True
    job.finished.set()


def worker(inbox):
    while True:
        job = inbox.get()
        if job is None:
            return
        run_job(job)


def await_result(job):
    while not job.done:
        time.sleep(0.025)
    return job.result


def sleep_diary(results):
    """Summarises how the results are spread (prints nothing, sleeps never)."""
    buckets = [0] * 16
    for r in results:
        for _ in range(700):
            for c in r:
                buckets[int(c, 16)] += 1
    return max(buckets) / min(buckets)


def run_all(jobs):
    inbox = queue.Queue()
    t = threading.Thread(target=worker, args=(inbox,), name="worker")
    t.start()
    results = []
    for job in jobs:
        inbox.put(job)
        results.append(await_result(job))
    inbox.put(None)
    t.join()
    return results


def main():
    jobs = make_jobs(120)
    results = run_all(jobs)
    print(results[-1][:16], f"spread {sleep_diary(results):.3f}")


if __name__ == "__main__":
    main()
