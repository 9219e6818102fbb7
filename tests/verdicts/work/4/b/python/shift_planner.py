"""Assign nurses to ward shifts for four weeks by simulated annealing with
incremental costs."""
import math
import random
from collections import defaultdict

NURSES = 48
DAYS = 28
SHIFTS = ("early", "late", "night")
OFF = -1
MOVES = 3_000_000
T_START, T_END = 18.0, 0.35

DEMAND = {"early": 11, "late": 9, "night": 6}
W_COVER = 30
W_SKILL = 12
W_SEQUENCE = 10
W_RUN = 6
W_HOURS = 4
W_WISH = 3


class Ward:
    """Staff data: contract, skill and wishes."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.senior = [i % 4 == 0 for i in range(NURSES)]
        self.target = [rng.choice((16, 18, 20)) for _ in range(NURSES)]
        self.wish_off = [set(rng.sample(range(DAYS), 3)) for _ in range(NURSES)]
        self.no_night = [rng.random() < 0.2 for _ in range(NURSES)]
        self.demand = []
        for day in range(DAYS):
            cut = 2 if day % 7 >= 5 else 0
            self.demand.append([DEMAND[s] - cut for s in SHIFTS])


class Plan:
    def __init__(self, ward, seed):
        rng = random.Random(seed)
        self.ward = ward
        self.rows = []
        for n in range(NURSES):
            row = [OFF] * DAYS
            for day in rng.sample(range(DAYS), ward.target[n]):
                row[day] = rng.randrange(len(SHIFTS))
            self.rows.append(row)
        self.cover = [[0] * len(SHIFTS) for _ in range(DAYS)]
        self.seniors = [[0] * len(SHIFTS) for _ in range(DAYS)]
        for n, row in enumerate(self.rows):
            for day, s in enumerate(row):
                if s != OFF:
                    self.cover[day][s] += 1
                    self.seniors[day][s] += ward.senior[n]
        self.row_costs = [self.row_cost(n) for n in range(NURSES)]
        self.cost = sum(self.row_costs) + sum(
            self.slot_cost(d, s, self.cover[d][s], self.seniors[d][s])
            for d in range(DAYS)
            for s in range(len(SHIFTS))
        )

    def slot_cost(self, day, shift, count, seniors):
        gap = count - self.ward.demand[day][shift]
        cost = W_COVER * -gap if gap < 0 else W_COVER // 6 * gap
        return cost if seniors else cost + W_SKILL

    def row_cost(self, n):
        """Rules that concern one nurse: sequences, long runs, hours, wishes."""
        row = self.rows[n]
        cost = 0
        last, run, worked, nights = OFF, 0, 0, 0
        for shift in row:
            if shift == OFF:
                run = 0
            else:
                worked += 1
                run += 1
                if run > 5:
                    cost += W_RUN
                if last > shift:
                    cost += W_SEQUENCE
                if shift == 2:
                    nights += 1
            last = shift
        cost += W_HOURS * abs(worked - self.ward.target[n])
        if nights > 6:
            cost += W_HOURS * (nights - 6)
        if nights and self.ward.no_night[n]:
            cost += W_SEQUENCE * nights
        for day in self.ward.wish_off[n]:
            if row[day] != OFF:
                cost += W_WISH
        return cost

    def try_change(self, n, day, new, limit):
        """Set one cell if the total rises by no more than limit."""
        row, old = self.rows[n], self.rows[n][day]
        cover, seniors, senior = self.cover[day], self.seniors[day], self.ward.senior[n]
        delta = 0
        if old != OFF:
            c, k = cover[old], seniors[old]
            delta += self.slot_cost(day, old, c - 1, k - senior) - self.slot_cost(day, old, c, k)
        if new != OFF:
            c, k = cover[new], seniors[new]
            delta += self.slot_cost(day, new, c + 1, k + senior) - self.slot_cost(day, new, c, k)
        # a row can never cost less than nothing
        if delta - self.row_costs[n] > limit:
            return False
        row[day] = new
        row_cost = self.row_cost(n)
        delta += row_cost - self.row_costs[n]
        if delta > limit:
            row[day] = old
            return False
        if old != OFF:
            cover[old] -= 1
            seniors[old] -= senior
        if new != OFF:
            cover[new] += 1
            seniors[new] += senior
        self.row_costs[n] = row_cost
        self.cost += delta
        return True


def anneal(plan, seed):
    rng = random.Random(seed)
    rand, log = rng.random, math.log
    cooling = (T_END / T_START) ** (1 / MOVES)
    temperature, accepted = T_START, 0
    kinds = len(SHIFTS) + 1
    for move in range(MOVES):
        n, day = int(rand() * NURSES), int(rand() * DAYS)
        new = int(rand() * kinds) - 1
        if new != plan.rows[n][day]:
            accepted += plan.try_change(n, day, new, -temperature * log(1.0 - rand()))
        temperature *= cooling
        if (move + 1) % (MOVES // 3) == 0:
            print(f"move {move + 1} cost {plan.cost} accepted {accepted}")


def main():
    ward = Ward(3)
    plan = Plan(ward, 4)
    print(f"start cost {plan.cost}")
    anneal(plan, 5)
    totals = defaultdict(int)
    for row in plan.rows:
        for s in row:
            totals[SHIFTS[s] if s != OFF else "off"] += 1
    short = sum(
        max(0, ward.demand[d][s] - plan.cover[d][s]) for d in range(DAYS) for s in range(len(SHIFTS))
    )
    print(f"missing {short}, " + " ".join(f"{k}={totals[k]}" for k in sorted(totals)))


if __name__ == "__main__":
    main()
