"""Matches free-text addresses against a gazetteer, in a pool of processes."""
import math
import random
from collections import Counter, defaultdict
from functools import partial
from multiprocessing import Pool

PLACES = 16000
ADDRESSES = 4500
CHUNK = 25

SYLLABLES = ("ber lin dorf stadt hau sen wald bach tal ried kirch feld burg stein "
             "au lingen mar hof see grun rot neu alt ober unter hol zen wies furt").split()
STREETS = "Haupt Bahnhof Garten Schul Dorf Berg Linden Kirch Wiesen Ring".split()


def make_name(rng):
    return "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(2, 4))).capitalize()


def trigrams(text):
    padded = f"  {text.lower()} "
    return {padded[i:i + 3] for i in range(len(padded) - 2)}


class Gazetteer:
    """Places with coordinates, and an inverted index of name trigrams."""

    def __init__(self):
        self.names = []
        self.postcodes = []
        self.places = []
        self.index = defaultdict(list)
        self.sizes = []
        self.by_postcode = defaultdict(list)

    def add(self, name, postcode, lat, lon):
        ident = len(self.names)
        grams = trigrams(name)
        self.names.append(name)
        self.postcodes.append(postcode)
        self.places.append((lat, lon))
        self.sizes.append(len(grams))
        for g in grams:
            self.index[g].append(ident)
        self.by_postcode[postcode[:2]].append(ident)

    def candidates(self, grams, limit=5):
        """Best names by trigram similarity; rare trigrams are looked up first."""
        counts = Counter()
        rare = sorted((g for g in grams if g in self.index), key=lambda g: (len(self.index[g]), g))
        for g in rare[:7]:
            counts.update(self.index[g])
        scored = [(2 * n / (len(grams) + self.sizes[i]), i) for i, n in counts.most_common(40)]
        scored.sort(key=lambda s: (-s[0], s[1]))
        return scored[:limit]


def build_gazetteer(seed):
    rng = random.Random(seed)
    gazetteer = Gazetteer()
    for _ in range(PLACES):
        lat, lon = rng.uniform(47.3, 54.9), rng.uniform(5.9, 15.0)
        zone = int((lat - 47.3) / 7.6 * 10) * 10 + int((lon - 5.9) / 9.1 * 10)
        gazetteer.add(make_name(rng), f"{zone:02d}{rng.randint(0, 999):03d}", lat, lon)
    return gazetteer


def misspell(rng, name):
    i = rng.randrange(1, len(name) - 1)
    kind = rng.random()
    if kind < 0.3:
        return name[:i] + name[i + 1:]
    if kind < 0.6:
        return name[:i] + name[i + 1] + name[i] + name[i + 2:]
    return name


def make_addresses(gazetteer, seed):
    rng = random.Random(seed)
    for n in range(ADDRESSES):
        i = rng.randrange(PLACES)
        street = f"{rng.choice(STREETS)}strasse {rng.randint(1, 120)}"
        postcode = gazetteer.postcodes[i] if rng.random() < 0.8 else "?????"
        yield n, i, f"{street}, {postcode} {misspell(rng, gazetteer.names[i])}"


def parse(text):
    _, _, place = text.rpartition(", ")
    postcode, _, name = place.partition(" ")
    return (postcode if postcode.isdigit() else None), name


def geocode(address, gazetteer):
    """(number, place or None, score) for one address."""
    number, _, text = address
    postcode, name = parse(text)
    best, best_score = None, 0.35
    for similarity, i in gazetteer.candidates(trigrams(name)):
        score = similarity
        if postcode:
            theirs = gazetteer.postcodes[i]
            score += 0.5 if theirs == postcode else 0.2 if theirs[:2] == postcode[:2] else -0.2
        if score > best_score:
            best, best_score = i, score
    return number, best, best_score


def distance_km(a, b):
    (lat1, lon1), (lat2, lon2) = a, b
    p = math.pi / 180
    h = (math.sin((lat2 - lat1) * p / 2) ** 2
         + math.cos(lat1 * p) * math.cos(lat2 * p) * math.sin((lon2 - lon1) * p / 2) ** 2)
    return 12742 * math.asin(math.sqrt(h))


def main():
    gazetteer = build_gazetteer(5)
    addresses = list(make_addresses(gazetteer, 6))
    with Pool(2) as pool:
        results = pool.map(partial(geocode, gazetteer=gazetteer), addresses, chunksize=CHUNK)
    exact = missed = 0
    errors = []
    for (_, truth, _), (_, found, _) in zip(addresses, results):
        if found is None:
            missed += 1
            continue
        exact += found == truth
        errors.append(distance_km(gazetteer.places[truth], gazetteer.places[found]))
    errors.sort()
    print(f"addresses {ADDRESSES}, exact {exact}, missed {missed}")
    print(f"error: p90 {errors[int(0.9 * len(errors))]:.2f} km, mean {sum(errors) / len(errors):.2f} km")


if __name__ == "__main__":
    main()
