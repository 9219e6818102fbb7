"""Groups survey answers into topics: hashed bag-of-words, a truncated SVD and
spherical k-means with several restarts."""
import random
import re
import zlib

import numpy as np

BUCKETS = 2048
TOPICS = 12
WORD = re.compile(r"[a-z]+")


def write_answers(count, seed):
    rng = random.Random(seed)
    stems = ["price", "wait", "staff", "app", "door", "light", "noise", "food", "seat", "park", "card", "line"]
    endings = ["", "s", "ing", "ed", "er", "y", "less", "ful"]
    filler = "the a of and to in was it but very not so my we they had".split()
    answers = []
    for _ in range(count):
        topic = rng.randrange(TOPICS)
        words = []
        for _ in range(rng.randint(15, 40)):
            pick = rng.random()
            if pick < 0.45:
                words.append(rng.choice(filler))
            elif pick < 0.8:
                words.append(stems[topic] + rng.choice(endings))
            else:
                words.append(rng.choice(stems) + rng.choice(endings))
        answers.append((topic, " ".join(words)))
    return answers


def vectorize(texts):
    """Dense tf-idf matrix; every distinct word is hashed once."""
    column_of, columns = {}, {}
    rows, cols = [], []
    for row, text in enumerate(texts):
        for word in WORD.findall(text):
            if word not in column_of:
                bucket = zlib.crc32(word.encode()) % BUCKETS
                column_of[word] = columns.setdefault(bucket, len(columns))
            rows.append(row)
            cols.append(column_of[word])
    width = len(columns)
    flat = np.bincount(np.array(rows) * width + np.array(cols), minlength=len(texts) * width)
    counts = flat.reshape(len(texts), width).astype(np.float32)
    seen = (counts > 0).sum(axis=0)
    weights = np.log1p(counts) * np.log(len(texts) / seen).astype(np.float32)
    return weights / np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-9)


def reduce(matrix, dims, seed, rounds=6):
    """Randomised range finder followed by a small exact SVD."""
    rng = np.random.default_rng(seed)
    basis = matrix @ rng.standard_normal((matrix.shape[1], dims + 10)).astype(np.float32)
    for _ in range(rounds):
        basis, _ = np.linalg.qr(basis)
        basis = matrix @ (matrix.T @ basis)
    basis, _ = np.linalg.qr(basis)
    u, s, _ = np.linalg.svd(basis.T @ matrix, full_matrices=False)
    points = basis @ (u[:, :dims] * s[:dims])
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def cluster(points, k, seed, rounds=60):
    rng = np.random.default_rng(seed)
    centres = points[rng.choice(len(points), k, replace=False)]
    labels = None
    for _ in range(rounds):
        similarity = points @ centres.T
        fresh = similarity.argmax(axis=1)
        if labels is not None and np.array_equal(fresh, labels):
            break
        labels = fresh
        member = np.zeros((k, len(points)), dtype=points.dtype)
        member[labels, np.arange(len(points))] = 1.0
        centres = member @ points
        centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-9)
    return labels, float(similarity.max(axis=1).mean())


def purity(labels, truth):
    table = np.bincount(labels * TOPICS + truth, minlength=TOPICS * TOPICS).reshape(TOPICS, TOPICS)
    return table.max(axis=1).sum() / len(truth)


def main():
    answers = write_answers(50000, seed=91)
    truth = np.array([topic for topic, _ in answers])
    matrix = vectorize([text for _, text in answers])
    points = reduce(matrix, dims=16, seed=92)
    best = max((cluster(points, TOPICS, seed=100 + r) for r in range(40)), key=lambda found: found[1])
    print(f"answers {len(answers)} words {matrix.shape[1]} fit {best[1]:.3f} purity {purity(best[0], truth):.3f}")


if __name__ == "__main__":
    main()
