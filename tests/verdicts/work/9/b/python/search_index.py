"""Builds a full-text index of generated incident reports in SQLite, then runs a
mix of ranked BM25 queries against postings held in memory."""
import heapq
import math
import os
import random
import re
import sqlite3
import tempfile
from array import array
from collections import Counter

REPORTS = 45000
QUERIES = 1000
TOKEN = re.compile(r"[a-z][a-z0-9-]+")
STOP = frozenset("the of and to in on for was is by with at from that this it as be".split())


def vocabulary(rng, size):
    onset = "b c d f g h k l m n p r s t v st tr pl gr".split()
    vowel = "a e i o u ai ou".split()
    words = set()
    while len(words) < size:
        words.add("".join(rng.choice(onset) + rng.choice(vowel) for _ in range(rng.randrange(2, 5))))
    return sorted(words)


def make_reports(rng):
    words = vocabulary(rng, 6000)
    weights = [1.0 / (i + 5) for i in range(len(words))]
    cumulative = []
    total = 0.0
    for w in weights:
        total += w
        cumulative.append(total)
    fillers = sorted(STOP)
    for number in range(REPORTS):
        body = rng.choices(words, cum_weights=cumulative, k=rng.randrange(40, 120))
        for k in range(0, len(body), 4):
            body[k] = rng.choice(fillers)
        title = " ".join(body[1:6]).title()
        yield number, title, " ".join(body) + f". Closed by shift {number % 7}."


def store_reports(db, reports):
    db.execute("CREATE TABLE report(id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL)")
    with db:
        db.executemany("INSERT INTO report VALUES(?, ?, ?)", reports)


def tokens(text):
    return [t for t in TOKEN.findall(text.lower()) if t not in STOP]


class Index:
    def __init__(self):
        self.documents = {}
        self.counts = {}
        self.lengths = array("I")

    def add(self, document, words):
        for word, n in Counter(words).items():
            postings = self.documents.get(word)
            if postings is None:
                postings = self.documents[word] = array("I")
                self.counts[word] = array("H")
            postings.append(document)
            self.counts[word].append(n)
        self.lengths.append(len(words))

    def finish(self, k1=1.2, b=0.75):
        """Length normalisation per document, shared by all queries."""
        self.k1 = k1
        average = sum(self.lengths) / len(self.lengths)
        self.norm = array("d", (k1 * (1 - b + b * n / average) for n in self.lengths))

    def idf(self, word):
        df = len(self.documents.get(word, ()))
        return math.log(1 + (len(self.lengths) - df + 0.5) / (df + 0.5))

    def search(self, words, k):
        scores = {}
        norm = self.norm
        for word in set(words):
            if word not in self.documents:
                continue
            weight = self.idf(word) * (self.k1 + 1)
            for doc, n in zip(self.documents[word], self.counts[word]):
                scores[doc] = scores.get(doc, 0.0) + weight * n / (n + norm[doc])
        return heapq.nsmallest(k, scores.items(), key=lambda item: (-item[1], item[0]))


def make_queries(index, rng):
    words = sorted(index.documents, key=lambda w: (-len(index.documents[w]), w))
    return [[words[int(rng.random() ** 2 * len(words))] for _ in range(rng.randrange(2, 5))] for _ in range(QUERIES)]


def titles(db, ids):
    marks = ",".join("?" * len(ids))
    return dict(db.execute(f"SELECT id, title FROM report WHERE id IN ({marks})", ids))


def main():
    rng = random.Random(404)
    with tempfile.TemporaryDirectory(prefix="search-index-") as folder:
        db = sqlite3.connect(os.path.join(folder, "reports.db"))
        store_reports(db, make_reports(rng))
        index = Index()
        for number, title, body in db.execute("SELECT id, title, body FROM report ORDER BY id"):
            index.add(number, tokens(title) * 2 + tokens(body))
        index.finish()

        hits = 0
        best = (0.0, "", "")
        for query in make_queries(index, rng):
            found = index.search(query, 10)
            if not found:
                continue
            names = titles(db, [doc for doc, _ in found])
            hits += len(names)
            doc, score = found[0]
            best = max(best, (round(score, 4), " ".join(query), names[doc]))
        db.close()

    postings = sum(len(p) for p in index.documents.values())
    print(f"reports {len(index.lengths)} words {len(index.documents)} postings {postings}")
    print(f"queries {QUERIES} hits {hits} best {best[0]:.4f} for '{best[1]}' in '{best[2]}'")


if __name__ == "__main__":
    main()
