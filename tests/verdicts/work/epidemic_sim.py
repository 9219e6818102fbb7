"""Agent-based SEIR epidemic with households, workplaces and a daily table of cases."""
import argparse
import json
import time

import numpy as np

S, E, I, R = range(4)


class Town:
    def __init__(self, people, seed):
        self.rng = np.random.default_rng(seed)
        self.state = np.zeros(people, np.int8)
        self.age = self.rng.integers(0, 90, people)
        self.home = self.rng.integers(0, people // 3, people)
        self.work = self.rng.integers(0, people // 20, people)
        self.clock = np.zeros(people, np.int32)
        first = self.rng.choice(people, 25, replace=False)
        self.state[first] = I
        self.clock[first] = 8

    def pressure(self):
        """Chance of infection for each person, from home, work and the street."""
        sick = (self.state == I).astype(np.float64)
        at_home = np.bincount(self.home, sick, self.home.max() + 1)[self.home]
        at_work = np.bincount(self.work, sick, self.work.max() + 1)[self.work]
        adult = (self.age >= 18) & (self.age < 67)
        hazard = 0.10 * at_home + 0.03 * at_work * adult + 0.12 * sick.mean()
        return 1 - np.exp(-hazard)

    def infect_rows(self, chance):
        new = 0
        for person in range(len(self.state)):
            if self.state[person] == S:
                risk = chance[person] * (0.6 if self.age[person] < 12 else 1.0)
                if self.rng.random() < risk:
                    self.state[person] = E
                    self.clock[person] = self.rng.integers(2, 6)
                    new += 1
        return new

    def infect_all(self, chance):
        risk = chance * np.where(self.age < 12, 0.6, 1.0)
        hit = (self.state == S) & (self.rng.random(len(risk)) < risk)
        self.state[hit] = E
        self.clock[hit] = self.rng.integers(2, 6, hit.sum())
        return int(hit.sum())

    def advance(self):
        moving = (self.state == E) | (self.state == I)
        self.clock[moving] -= 1
        done = moving & (self.clock <= 0)
        ill = done & (self.state == E)
        well = done & (self.state == I)
        self.state[ill] = I
        self.clock[ill] = self.rng.integers(4, 10, ill.sum())
        self.state[well] = R


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repaired", action="store_true")
    ap.add_argument("--days", type=int, default=90)
    ap.add_argument("--people", type=int, default=100000)
    args = ap.parse_args()
    town = Town(args.people, 9)
    rows_seconds = 0.0
    begin = time.perf_counter()
    for day in range(args.days):
        chance = town.pressure()
        start = time.perf_counter()
        new = town.infect_all(chance) if args.repaired else town.infect_rows(chance)
        rows_seconds += time.perf_counter() - start
        town.advance()
        if day % 10 == 9:
            count = np.bincount(town.state, minlength=4)
            print(f"day {day + 1:3d}  new {new:6d}  S {count[S]:7d}  E {count[E]:6d}  I {count[I]:6d}  R {count[R]:7d}")
    total = time.perf_counter() - begin
    print("TRUTH", json.dumps({"share": round(rows_seconds / total, 2), "seconds": round(total, 1)}))


if __name__ == "__main__":
    main()
