"""Finds out which of some bacteria the reads of a sample come from.

The genomes' k-mers are put into one sorted table once; worker processes then look up the
k-mers of the reads, a batch at a time, and vote."""
import multiprocessing as mp
from dataclasses import dataclass

import numpy as np

K = 15
GENOMES = 12
GENOME_LENGTH = 240_000
READS = 24_000
READ_LENGTH = 150
BATCH = 200
WORKERS = 2
ERROR_RATE = 0.01
AMBIGUOUS = -1


@dataclass
class Index:
    """All k-mers of the genomes, sorted, with the genome that each belongs to."""

    kmers: np.ndarray
    owner: np.ndarray
    names: list

    def lookup(self, codes):
        at = np.searchsorted(self.kmers, codes)
        at[at == len(self.kmers)] = 0
        return np.where(self.kmers[at] == codes, self.owner[at], AMBIGUOUS)


def kmer_codes(bases):
    """Codes of all k-mers along the last axis; bases are 0 to 3."""
    count = bases.shape[-1] - K + 1
    codes = np.zeros(bases.shape[:-1] + (count,), np.int64)
    for offset in range(K):
        codes = codes * 4 + bases[..., offset : offset + count]
    return codes


def make_genomes(rng):
    """Relatives: they share long stretches with a common ancestor."""
    ancestor = rng.integers(0, 4, GENOME_LENGTH, dtype=np.int64)
    genomes = []
    for _ in range(GENOMES):
        genome = ancestor.copy()
        changed = rng.random(GENOME_LENGTH) < 0.12
        genome[changed] = rng.integers(0, 4, int(changed.sum()))
        genomes.append(genome)
    return genomes


def build_index(genomes):
    kmers = [np.unique(kmer_codes(genome)) for genome in genomes]
    owner = np.concatenate([np.full(len(k), n, np.int16) for n, k in enumerate(kmers)])
    kmers = np.concatenate(kmers)
    order = np.argsort(kmers, kind="stable")
    kmers, owner = kmers[order], owner[order]
    first = np.ones(len(kmers), bool)
    first[1:] = kmers[1:] != kmers[:-1]
    start = np.flatnonzero(first)
    shared = np.diff(np.append(start, len(kmers))) > 1
    owner = np.where(shared, AMBIGUOUS, owner[start]).astype(np.int16)
    return Index(kmers[start], owner, [f"strain-{n:02d}" for n in range(len(genomes))])


def sample_reads(rng, genomes):
    """Reads of a mixture in which the strains are not equally common."""
    share = np.arange(1, GENOMES + 1, dtype=float)
    source = rng.choice(GENOMES, READS, p=share / share.sum())
    begin = rng.integers(0, GENOME_LENGTH - READ_LENGTH, READS)
    window = begin[:, None] + np.arange(READ_LENGTH)
    reads = np.stack(genomes)[source[:, None], window]
    wrong = rng.random(reads.shape) < ERROR_RATE
    reads[wrong] = rng.integers(0, 4, int(wrong.sum()))
    return reads.astype(np.int8), source


def classify(job):
    """Votes of one batch: the strain with most k-mers of its own, or none."""
    index, reads = job
    hits = index.lookup(kmer_codes(reads.astype(np.int64)))
    votes = np.zeros((len(reads), GENOMES), np.int32)
    for strain in range(GENOMES):
        votes[:, strain] = (hits == strain).sum(axis=1)
    best = votes.argmax(axis=1)
    ranked = np.sort(votes, axis=1)
    clear = ranked[:, -1] >= 3 + ranked[:, -2]
    return np.where(clear, best, AMBIGUOUS)


def classify_all(index, reads):
    jobs = [(index, reads[at : at + BATCH]) for at in range(0, len(reads), BATCH)]
    with mp.get_context("fork").Pool(WORKERS) as pool:
        return np.concatenate(pool.map(classify, jobs, chunksize=1))


def main():
    rng = np.random.default_rng(12)
    genomes = make_genomes(rng)
    index = build_index(genomes)
    reads, source = sample_reads(rng, genomes)
    found = classify_all(index, reads)
    known = found != AMBIGUOUS
    right = (found[known] == source[known]).mean()
    counts = np.bincount(found[known], minlength=GENOMES)
    print(f"k-mers {len(index.kmers)}, reads {READS}, classified {known.mean():.4f}, of these right {right:.4f}")
    print("most common:", ", ".join(f"{index.names[n]} {counts[n]}" for n in counts.argsort()[::-1][:4]))


if __name__ == "__main__":
    main()
