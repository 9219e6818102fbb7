"""Family tree of bacterial isolates from their assemblies.

Every assembly is reduced to a bottom-k sketch of its canonical k-mers, the
Mash distance is computed for all pairs, and the isolates are joined with the
neighbour-joining method.
"""
import multiprocessing as mp

import numpy as np

K = 21
SKETCH = 1000
ISOLATES = 200
GENOME = 280_000
SEED = 314


def random_tree(rng, n):
    """Parents of a random bifurcating history; node 0 is the ancestor."""
    parents, leaves = [(-1, 0.0)], [0]
    while len(leaves) < n:
        node = leaves.pop(rng.integers(len(leaves)))
        for _ in range(2):
            leaves.append(len(parents))
            parents.append((node, float(rng.uniform(0.0004, 0.004))))
    return parents, sorted(leaves)


def mutate(rng, genome, rate):
    child = genome.copy()
    at = np.flatnonzero(rng.random(len(child)) < rate)
    child[at] = (child[at] + rng.integers(1, 4, len(at))) % 4
    if rng.random() < 0.5:                      # a deletion now and then
        cut = int(rng.integers(0, len(child) - 800))
        child = np.delete(child, slice(cut, cut + int(rng.integers(50, 800))))
    return child


def make_assemblies(rng):
    parents, leaves = random_tree(rng, ISOLATES)
    genomes = [rng.integers(0, 4, GENOME).astype(np.uint8)]
    for parent, rate in parents[1:]:
        genomes.append(mutate(rng, genomes[parent], rate))
    assemblies = []
    for leaf in leaves:
        g = genomes[leaf]
        assemblies.append((3 - g[::-1]).astype(np.uint8) if rng.random() < 0.5 else g)
    return assemblies


def mix(x):
    """Finaliser of MurmurHash3, vectorised."""
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xFF51AFD7ED558CCD)
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xC4CEB9FE1A85EC53)
    x ^= x >> np.uint64(33)
    return x


def sketch(genome):
    """The SKETCH smallest distinct hashes of the canonical k-mers, sorted."""
    n = len(genome) - K + 1
    forward = np.zeros(n, dtype=np.uint64)
    reverse = np.zeros(n, dtype=np.uint64)
    base = genome.astype(np.uint64)
    for i in range(K):
        window = base[i:i + n]
        forward <<= np.uint64(2)
        forward |= window
        reverse |= (np.uint64(3) - window) << np.uint64(2 * i)
    hashes = mix(np.minimum(forward, reverse))
    smallest = np.partition(hashes, 4 * SKETCH)[:4 * SKETCH]
    return np.unique(smallest)[:SKETCH]


def mash_distance(a, b):
    union = np.sort(np.concatenate([a, b]))
    repeated = union[1:] == union[:-1]
    first = np.concatenate([[True], ~repeated])
    limit = union[first][SKETCH - 1]
    shared = int(np.count_nonzero(repeated & (union[1:] <= limit)))
    if shared == 0:
        return 1.0
    j = shared / SKETCH
    return -np.log(2 * j / (1 + j)) / K


def distance_matrix(sketches):
    n = len(sketches)
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            d[i, j] = d[j, i] = mash_distance(sketches[i], sketches[j])
    return d


def neighbour_joining(d):
    """Merges as (node, node, new node, length, length); leaves are 0..n-1."""
    d = d.copy()
    nodes = list(range(len(d)))
    merges, fresh = [], len(d)
    while len(nodes) > 2:
        n = len(nodes)
        total = d.sum(axis=0)
        q = (n - 2) * d - total[:, None] - total[None]
        np.fill_diagonal(q, np.inf)
        i, j = sorted(divmod(int(q.argmin()), n))
        left = 0.5 * d[i, j] + (total[i] - total[j]) / (2 * (n - 2))
        row = 0.5 * (d[i] + d[j] - d[i, j])
        merges.append((nodes[i], nodes[j], fresh, left, d[i, j] - left))
        keep = [k for k in range(n) if k not in (i, j)]
        grown = np.zeros((n - 1, n - 1))
        grown[:-1, :-1] = d[np.ix_(keep, keep)]
        grown[-1, :-1] = grown[:-1, -1] = row[keep]
        d, nodes = grown, [nodes[k] for k in keep] + [fresh]
        fresh += 1
    merges.append((nodes[0], nodes[1], fresh, d[0, 1], 0.0))
    return merges


def tree_distances(merges, n):
    """Path lengths between the leaves of the tree."""
    below = {i: {i: 0.0} for i in range(n)}
    out = np.zeros((n, n))
    for a, b, new, la, lb in merges:
        left = {k: v + la for k, v in below.pop(a).items()}
        right = {k: v + lb for k, v in below.pop(b).items()}
        for x, dx in left.items():
            for y, dy in right.items():
                out[x, y] = out[y, x] = dx + dy
        below[new] = {**left, **right}
    return out


def main():
    rng = np.random.default_rng(SEED)
    assemblies = make_assemblies(rng)
    with mp.get_context("fork").Pool(2) as pool:
        sketches = pool.map(sketch, assemblies, chunksize=6)
    distance = distance_matrix(sketches)
    merges = neighbour_joining(distance)
    fitted = tree_distances(merges, len(sketches))
    upper = np.triu_indices(len(sketches), 1)
    r = np.corrcoef(distance[upper], fitted[upper])[0, 1]
    length = sum(m[3] + m[4] for m in merges)
    print(f"{len(sketches)} isolates, mean distance {distance[upper].mean():.6f}, largest {distance.max():.6f}")
    print(f"tree length {length:.6f}, cophenetic correlation {r:.6f}")


if __name__ == "__main__":
    main()
