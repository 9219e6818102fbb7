"""Discrete-event simulation of a parcel depot: trucks arrive, are unloaded at
docks, parcels are sorted by machines and leave with delivery vans.  Used to
compare how many docks and sorters a new depot needs."""
import collections
import heapq
import itertools
import random
import statistics

DAY = 24 * 60.0
SCENARIOS = [(3, 2), (4, 2), (4, 3), (5, 3), (5, 4)]
DAYS = 45


class Resource:
    """A counted resource with a first-come-first-served queue."""

    __slots__ = ("sim", "free", "capacity", "queue", "busy_time", "changed")

    def __init__(self, sim, capacity):
        self.sim = sim
        self.free = capacity
        self.capacity = capacity
        self.queue = collections.deque()
        self.busy_time = 0.0
        self.changed = 0.0

    def _account(self):
        self.busy_time += (self.capacity - self.free) * (self.sim.now - self.changed)
        self.changed = self.sim.now

    def acquire(self, callback, arg):
        if self.free:
            self._account()
            self.free -= 1
            callback(arg)
        else:
            self.queue.append((callback, arg))

    def release(self):
        if self.queue:
            callback, arg = self.queue.popleft()
            callback(arg)
        else:
            self._account()
            self.free += 1

    def utilisation(self):
        self._account()
        return self.busy_time / (self.capacity * self.sim.now)


class Depot:
    def __init__(self, docks, sorters, seed):
        self.now = 0.0
        self.events = []
        self.order = itertools.count()
        self.rng = random.Random(seed)
        self.docks = Resource(self, docks)
        self.sorters = Resource(self, sorters)
        self.routes = [0] * 24
        self.truck_waits = []
        self.batch_times = []
        self.vans = 0
        self.parcels = 0

    def at(self, delay, callback, arg=None):
        heapq.heappush(self.events, (self.now + delay, next(self.order), callback, arg))

    def run(self, until):
        events = self.events
        while events and events[0][0] <= until:
            self.now, _, callback, arg = heapq.heappop(events)
            callback(arg)
        self.now = until

    def arrival_gap(self):
        hour = self.now % DAY / 60.0
        rate = 1 / 9.0 if 4 <= hour < 10 else 1 / 16.0 if hour < 20 else 1 / 40.0
        return self.rng.expovariate(rate)

    def truck_arrives(self, _):
        self.docks.acquire(self.truck_docked, self.now)
        self.at(self.arrival_gap(), self.truck_arrives)

    def truck_docked(self, arrived):
        self.truck_waits.append(self.now - arrived)
        batches = self.rng.randint(18, 42)
        self.at(4.0, self.unload, batches)

    def unload(self, batches):
        if batches == 0:
            self.docks.release()
            return
        size = self.rng.randint(20, 60)
        self.sorters.acquire(self.sort_begins, (self.now, size))
        self.at(0.5 + self.rng.random() * 0.7, self.unload, batches - 1)

    def sort_begins(self, batch):
        jam = 6.0 if self.rng.random() < 0.004 else 0.0
        self.at(0.15 + batch[1] * 0.018 + jam, self.sort_ends, batch)

    def sort_ends(self, batch):
        started, size = batch
        self.sorters.release()
        self.batch_times.append(self.now - started)
        self.parcels += size
        routes = self.routes
        pick = self.rng.random
        for _ in range(size):
            route = int(24 * pick() * pick())
            routes[route] += 1
            if routes[route] == 160:
                routes[route] = 0
                self.at(12.0, self.van_leaves)

    def van_leaves(self, _):
        self.vans += 1


def main():
    for docks, sorters in SCENARIOS:
        depot = Depot(docks, sorters, seed=77)
        depot.at(0.0, depot.truck_arrives)
        depot.run(DAYS * DAY)
        waits = sorted(depot.truck_waits)
        print(f"docks {docks} sorters {sorters}: trucks {len(waits)}, parcels {depot.parcels}, vans {depot.vans}, "
              f"truck wait mean {statistics.fmean(waits):.2f} p95 {waits[int(len(waits) * 0.95)]:.2f} min, "
              f"sorting {statistics.fmean(depot.batch_times):.3f} min, "
              f"use {depot.docks.utilisation():.3f}/{depot.sorters.utilisation():.3f}")


if __name__ == "__main__":
    main()
