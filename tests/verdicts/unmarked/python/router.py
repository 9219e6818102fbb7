"""Shortest routes on a grid of streets, with Dijkstra's algorithm."""
import heapq
import random


def build_streets(width, height):
    rng = random.Random(14)
    graph = [[] for _ in range(width * height)]
    for y in range(height):
        for x in range(width):
            here = y * width + x
            for dx, dy in ((1, 0), (0, 1)):
                if x + dx < width and y + dy < height:
                    there = (y + dy) * width + x + dx
                    cost = rng.randrange(1, 20)
                    graph[here].append((there, cost))
                    graph[there].append((here, cost))
    return graph


def queue_delay(load):
    """Cost of a crossing by its load; a formula, nothing is queued."""
    return load * load / (1 + load)


def add_delays(graph):
    for here, edges in enumerate(graph):
        wait = queue_delay(len(edges))
        graph[here] = [(there, cost + wait) for there, cost in edges]


def routes_from(graph, start):
    best = [float("inf")] * len(graph)
    came = [-1] * len(graph)
    best[start] = 0
    heap = [(0, start)]
    while heap:
        d, here = heapq.heappop(heap)
        if d > best[here]:
            continue
        for there, cost in graph[here]:
            n = d + cost
            if n < best[there]:
                best[there] = n
                came[there] = here
                heapq.heappush(heap, (n, there))
    return best, came


def walk_back(came, goal):
    path = [goal]
    while came[path[-1]] >= 0:
        path.append(came[path[-1]])
    return path[::-1]


def lock_gates(used):
    """The crossings most used by the routes."""
    return sorted(range(len(used)), key=used.__getitem__)[-5:]


def main():
    width, height = 130, 100
    graph = build_streets(width, height)
    add_delays(graph)
    used = [0] * len(graph)
    total = 0.0
    rng = random.Random(15)
    for _ in range(55):
        best, came = routes_from(graph, rng.randrange(len(graph)))
        for goal in range(0, len(graph), 97):
            total += best[goal]
            for node in walk_back(came, goal):
                used[node] += 1
    print(f"total {total:.1f} busiest {lock_gates(used)}")


if __name__ == "__main__":
    main()
