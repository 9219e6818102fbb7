"""Travel times between depots and customers on a synthetic road network:
bounded Dijkstra from every depot, then a greedy assignment of deliveries."""
import heapq
import math
import random
from array import array

COLUMNS = 220
ROWS = 220
DEPOTS = 80
CUSTOMERS = 1500
LIMIT = 3600.0
SPEEDS = {"motorway": 30.0, "main": 18.0, "street": 11.0}


class RoadNetwork:
    """Adjacency in three flat arrays, as offsets, heads and seconds."""

    def __init__(self, positions, roads):
        degree = [0] * (len(positions) + 1)
        for a, b, _ in roads:
            degree[a + 1] += 1
            degree[b + 1] += 1
        for i in range(1, len(degree)):
            degree[i] += degree[i - 1]
        self.positions = positions
        self.offset = array("l", degree)
        self.head = array("l", [0]) * (2 * len(roads))
        self.seconds = array("d", [0.0]) * (2 * len(roads))
        fill = list(degree)
        for a, b, seconds in roads:
            for here, there in ((a, b), (b, a)):
                self.head[fill[here]] = there
                self.seconds[fill[here]] = seconds
                fill[here] += 1

    def neighbours(self):
        """For each junction its list of (junction, seconds)."""
        return [
            list(zip(self.head[start:end], self.seconds[start:end]))
            for start, end in zip(self.offset, self.offset[1:])
        ]


def road_class(row, column, vertical):
    line = column if vertical else row
    if line % 25 == 0:
        return "motorway"
    return "main" if line % 5 == 0 else "street"


def build_network(rng):
    positions = [
        (column * 220 + rng.uniform(-70, 70), row * 220 + rng.uniform(-70, 70))
        for row in range(ROWS)
        for column in range(COLUMNS)
    ]
    roads = []
    for row in range(ROWS):
        for column in range(COLUMNS):
            here = row * COLUMNS + column
            for there, vertical, inside in (
                (here + 1, False, column + 1 < COLUMNS),
                (here + COLUMNS, True, row + 1 < ROWS),
            ):
                kind = road_class(row, column, vertical)
                if not inside or (kind == "street" and rng.random() < 0.12):
                    continue
                metres = math.dist(positions[here], positions[there])
                delay = 0.0 if kind == "motorway" else rng.uniform(2, 14)
                roads.append((here, there, metres / SPEEDS[kind] + delay))
    return RoadNetwork(positions, roads)


def travel_times(neighbours, source, limit):
    """Seconds from the source to every junction that is within the limit."""
    best = [math.inf] * len(neighbours)
    best[source] = 0.0
    heap = [(0.0, source)]
    push, pop = heapq.heappush, heapq.heappop
    while heap:
        reached, here = pop(heap)
        if reached > best[here]:
            continue
        if reached > limit:
            break
        for there, seconds in neighbours[here]:
            arrival = reached + seconds
            if arrival < best[there]:
                best[there] = arrival
                push(heap, (arrival, there))
    return best


def assign(table, customers, capacity):
    """Cheapest pairs first, as long as the depot has room for the customer."""
    offers = sorted(
        (times[junction], depot, customer)
        for depot, times in enumerate(table)
        for customer, junction in enumerate(customers)
        if times[junction] < math.inf
    )
    chosen = {}
    load = [0] * len(table)
    for seconds, depot, customer in offers:
        if customer in chosen or load[depot] == capacity:
            continue
        chosen[customer] = (depot, seconds)
        load[depot] += 1
    return chosen, load


def spread(table, customers):
    """Customers that at least two depots reach within a quarter of an hour."""
    return sum(1 for junction in customers if sum(times[junction] <= 900 for times in table) >= 2)


def main():
    rng = random.Random(1848)
    network = build_network(rng)
    neighbours = network.neighbours()
    junctions = range(len(network.positions))
    depots = rng.sample(junctions, DEPOTS)
    customers = rng.sample(junctions, CUSTOMERS)
    table = [travel_times(neighbours, depot, LIMIT) for depot in depots]
    chosen, load = assign(table, customers, capacity=CUSTOMERS // DEPOTS + 15)
    seconds = [s for _, s in chosen.values()]
    print(f"junctions {len(junctions)}, roads {len(network.head) // 2}")
    print(f"assigned {len(chosen)}, mean {sum(seconds) / len(seconds):.1f} s, longest {max(seconds):.1f} s")
    print(f"fullest depot {max(load)}, doubly covered {spread(table, customers)}")


if __name__ == "__main__":
    main()
