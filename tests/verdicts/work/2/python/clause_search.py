"""Ranks contract clauses against queries with an inverted BM25 index."""
import heapq
import math
import random
import re
from collections import Counter, defaultdict

WORD = re.compile(r"[a-z]+")
STEMS = ("deliver", "payment", "notice", "party", "liab", "term", "breach", "insur", "tenant", "lease", "goods", "price",
         "audit", "secur", "data", "claim", "tax", "law", "court", "agent", "bank", "loan", "share", "vote", "board")
ENDINGS = ("", "s", "ed", "ing", "ment", "ity", "ation", "able", "er", "or", "less", "ful")


def make_clauses(count, seed):
    rng = random.Random(seed)
    vocabulary = [a + b for a in STEMS for b in ENDINGS]
    weights = [1 / (rank + 3) for rank in range(len(vocabulary))]
    rng.shuffle(vocabulary)
    for _ in range(count):
        words = rng.choices(vocabulary, weights, k=rng.randint(30, 90))
        words[0] = words[0].capitalize()
        yield " ".join(words) + "."


def tokens(text):
    return WORD.findall(text.lower())


class ClauseIndex:
    def __init__(self, k1=1.4, b=0.7):
        self.k1, self.b = k1, b
        self.postings = defaultdict(list)
        self.lengths = []
        self.impact = {}

    def add(self, text):
        number = len(self.lengths)
        counts = Counter(tokens(text))
        self.lengths.append(sum(counts.values()))
        for word, count in counts.items():
            self.postings[word].append((number, count))

    def freeze(self):
        size = len(self.lengths)
        mean = sum(self.lengths) / size
        norm = [self.k1 * (1 - self.b + self.b * n / mean) for n in self.lengths]
        for word, rows in self.postings.items():
            idf = math.log(1 + (size - len(rows) + 0.5) / (len(rows) + 0.5))
            self.impact[word] = [(d, idf * c * (self.k1 + 1) / (c + norm[d])) for d, c in rows]

    def search(self, query, top):
        scores = defaultdict(float)
        for word in set(tokens(query)):
            for number, gain in self.impact.get(word, ()):
                scores[number] += gain
        return heapq.nlargest(top, scores.items(), key=lambda item: (item[1], -item[0]))


def main():
    index = ClauseIndex()
    clauses = list(make_clauses(12_000, 1))
    for text in clauses:
        index.add(text)
    index.freeze()
    rng = random.Random(2)
    checksum = 0
    for _ in range(700):
        words = rng.sample(clauses[rng.randrange(len(clauses))].split(), 6)
        for place, (number, score) in enumerate(index.search(" ".join(words), 10)):
            checksum = (checksum * 31 + number * 7 + round(score * 1000) + place) % 1_000_000_007
    print("clauses", len(clauses), "terms", len(index.postings), "checksum", checksum)


if __name__ == "__main__":
    main()
