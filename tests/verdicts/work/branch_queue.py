"""Discrete-event simulation of bank branches: arrivals, tellers, impatient customers."""
import heapq
import json
import random
import time
from collections import deque

OPEN_MINUTES = 8 * 60
ARRIVE, FINISH, GIVE_UP = range(3)


class Branch:
    def __init__(self, tellers, rate, seed):
        self.rnd = random.Random(seed)
        self.tellers, self.rate = tellers, rate
        self.free = tellers
        self.line = deque()
        self.waiting = set()
        self.events = []
        self.serial = 0
        self.waits, self.lost, self.served = [], 0, 0
        self.busy = 0.0

    def push(self, when, kind, who):
        self.serial += 1
        heapq.heappush(self.events, (when, self.serial, kind, who))

    def start_service(self, now, came):
        length = self.rnd.lognormvariate(1.25, 0.6)
        self.free -= 1
        self.busy += length
        self.waits.append(now - came)
        self.push(now + length, FINISH, 0)

    def day(self):
        self.push(self.rnd.expovariate(self.rate), ARRIVE, 1)
        while self.events:
            now, _, kind, who = heapq.heappop(self.events)
            if kind == ARRIVE:
                peak = 1.5 if 200 < now < 300 else 0.9
                after = now + self.rnd.expovariate(self.rate * peak)
                if after < OPEN_MINUTES:
                    self.push(after, ARRIVE, who + 1)
                if self.free:
                    self.start_service(now, now)
                else:
                    self.line.append((who, now))
                    self.waiting.add(who)
                    self.push(now + self.rnd.gammavariate(4, 5), GIVE_UP, who)
            elif kind == FINISH:
                self.free += 1
                self.served += 1
                while self.line:
                    who, came = self.line.popleft()
                    if who in self.waiting:
                        self.waiting.discard(who)
                        self.start_service(now, came)
                        break
            elif who in self.waiting:
                self.waiting.discard(who)
                self.lost += 1


def study(tellers, rate, days):
    waits, lost, served, busy = [], 0, 0, 0.0
    for day in range(days):
        branch = Branch(tellers, rate, 1000 * tellers + day)
        branch.day()
        waits += branch.waits
        lost += branch.lost
        served += branch.served
        busy += branch.busy
    waits.sort()
    return (sum(waits) / len(waits), waits[int(0.95 * len(waits))], lost / (lost + served),
            busy / (tellers * OPEN_MINUTES * days))


def main():
    begin = time.perf_counter()
    print(f"{'tellers':>8}{'mean wait':>11}{'p95 wait':>10}{'lost':>8}{'busy':>8}")
    for tellers in range(5, 13):
        mean, p95, lost, busy = study(tellers, 2.0, 200)
        print(f"{tellers:8}{mean:11.2f}{p95:10.2f}{lost:8.1%}{busy:8.1%}")
    total = time.perf_counter() - begin
    print("TRUTH", json.dumps({"share": 0, "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
