"""Walks a local folder of notes, builds a word index and a checksum list."""
import collections
import os
import random
import shutil
import subprocess
import tempfile

WORDS = ("river stone market ledger copper window garden autumn signal harbour "
         "engine letter bridge carbon valley mirror planet thread").split()


def write_notes(folder, count):
    rng = random.Random(11)
    for i in range(count):
        sub = os.path.join(folder, f"box{i % 12:02d}")
        os.makedirs(sub, exist_ok=True)
        with open(os.path.join(sub, f"note{i:04d}.txt"), "w") as f:
            for _ in range(60):
                f.write(" ".join(rng.choice(WORDS) + str(rng.randrange(30)) for _ in range(9)) + "\n")


def find_notes(folder):
    for root, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if name.endswith(".txt"):
                yield os.path.join(root, name)


def fingerprint(path):
    out = subprocess.run(["cksum", path], capture_output=True, text=True, check=True).stdout
    return out.split()[0]


def word_counts(path):
    counts = collections.Counter()
    with open(path) as f:
        for line in f:
            counts.update(line.split())
    return counts


def join_threads(counts):
    """Joins the counts of words with the same stem (no thread of execution here)."""
    stems = collections.defaultdict(int)
    for word, n in counts.items():
        stems[word.rstrip("0123456789")] += n
    return stems


def index_folder(folder):
    index = collections.defaultdict(list)
    sums = {}
    total = collections.Counter()
    for path in find_notes(folder):
        sums[path] = fingerprint(path)
        counts = word_counts(path)
        total.update(counts)
        for word, n in counts.items():
            index[word].append((n, path))
    for word in index:
        index[word].sort(reverse=True)
    return index, sums, join_threads(total)


def main():
    folder = tempfile.mkdtemp(prefix="notes-")
    try:
        write_notes(folder, 320)
        index, sums, stems = index_folder(folder)
        best = max(stems, key=stems.get)
        print(len(index), "words,", len(set(sums.values())), "different notes, most used:", best)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
