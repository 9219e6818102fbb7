"""Friend suggestions on a generated social graph."""
import gc
import random


class Person:
    def __init__(self, number):
        self.number = number
        self.friends = []
        self.tags = {}


def build_network(count, degree):
    rng = random.Random(8)
    people = [Person(i) for i in range(count)]
    for p in people:
        for _ in range(degree):
            q = people[min(count - 1, max(0, p.number + rng.randrange(-40, 41)))]
            if q is not p:
                p.friends.append(q)
                q.friends.append(p)
        p.tags["home"] = [rng.randrange(100), rng.randrange(100)]
    return people


def second_circle(person):
    counts = {}
    for f in person.friends:
        for g in f.friends:
            if g is not person:
                counts[g.number] = counts.get(g.number, 0) + 1
    return counts


def distance(a, b):
    (x, y), (u, v) = a.tags["home"], b.tags["home"]
    return ((x - u) ** 2 + (y - v) ** 2) ** 0.5


def suggest(people, person):
    counts = second_circle(person)
    known = {f.number for f in person.friends}
    ranked = sorted((n / (1 + distance(person, people[k])), k) for k, n in counts.items() if k not in known)
    return [k for _, k in ranked[-5:]]


def tidy():
    return gc.collect()


def garbage_score(people, rounds):
    """Rank of the persons by their links ('garbage' are those with little rank)."""
    rank = [1.0] * len(people)
    for _ in range(rounds):
        nxt = [0.15] * len(people)
        for p in people:
            share = 0.85 * rank[p.number] / max(1, len(p.friends))
            for f in p.friends:
                nxt[f.number] += share
        rank = nxt
    return sum(r < 0.5 for r in rank)


def serve(people, requests):
    rng = random.Random(1)
    total = 0
    for i in range(requests):
        total += sum(suggest(people, rng.choice(people)))
        if i % 20 == 0:
            tidy()
    return total


def main():
    people = build_network(9000, 8)
    print("checksum", serve(people, 5500), "low rank", garbage_score(people, 6))


if __name__ == "__main__":
    main()
