"""Full-text search over case notes: tokenises, builds an inverted index,
answers ranked queries with BM25."""
import heapq
import math
import random
import re
import zlib
from array import array
from collections import Counter, defaultdict

WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
STOP = frozenset("the a an of and to in on for was is with by".split())


def make_lexicon(size, rng):
    parts = ("ba", "co", "di", "fer", "gan", "hol", "in", "jur", "kel", "lo", "mar", "no", "per", "qui", "ros", "ta")
    words = set()
    while len(words) < size:
        words.add("".join(rng.choice(parts) for _ in range(rng.randrange(2, 5))))
    return sorted(words)


def make_notes(count, lexicon, rng):
    weights = [1.0 / (i + 3) for i in range(len(lexicon))]
    stop = sorted(STOP)
    for _ in range(count):
        words = rng.choices(lexicon, weights, k=rng.randrange(60, 180))
        for i in range(0, len(words), 3):
            words[i] = rng.choice(stop)
        yield " ".join(words).capitalize() + "."


def tokens(text):
    return [w for w in WORD.findall(text.lower()) if w not in STOP]


class Index:
    def __init__(self, k1=1.2, b=0.75):
        self.k1, self.b = k1, b
        self.postings = defaultdict(lambda: (array("I"), array("H")))
        self.lengths = array("I")
        self.norms = []

    def add(self, text):
        words = tokens(text)
        doc = len(self.lengths)
        self.lengths.append(len(words))
        for word, n in Counter(words).items():
            docs, counts = self.postings[word]
            docs.append(doc)
            counts.append(n)

    def freeze(self):
        mean = sum(self.lengths) / len(self.lengths)
        self.norms = [self.k1 * (1 - self.b + self.b * n / mean) for n in self.lengths]
        self.postings.default_factory = None

    def idf(self, word):
        n = len(self.postings[word][0])
        return math.log(1 + (len(self.lengths) - n + 0.5) / (n + 0.5))

    def search(self, query, top=10):
        scores = defaultdict(float)
        norms, gain = self.norms, self.k1 + 1
        for word in set(tokens(query)):
            if word not in self.postings:
                continue
            idf = self.idf(word)
            docs, counts = self.postings[word]
            for doc, n in zip(docs, counts):
                scores[doc] += idf * n * gain / (n + norms[doc])
        return heapq.nlargest(top, scores.items(), key=lambda s: (s[1], -s[0]))


def make_queries(count, lexicon, rng):
    for _ in range(count):
        yield " ".join(rng.choices(lexicon[40:], k=rng.randrange(2, 5)))


def main():
    rng = random.Random(20)
    lexicon = make_lexicon(4000, rng)
    index = Index()
    for note in make_notes(18_000, lexicon, rng):
        index.add(note)
    index.freeze()
    checksum, answered = 0, 0
    for query in make_queries(2500, lexicon, rng):
        hits = index.search(query)
        answered += bool(hits)
        for doc, score in hits:
            checksum = zlib.crc32(f"{doc}:{score:.6f}".encode(), checksum)
    print(f"documents {len(index.lengths)} terms {len(index.postings)} answered {answered} crc {checksum:08x}")


if __name__ == "__main__":
    main()
