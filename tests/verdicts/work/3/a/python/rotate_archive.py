"""Log rotation: finished log segments are summarised, compressed and checked by
a small thread pool while the main thread keeps producing segments."""
import collections
import hashlib
import os
import random
import shutil
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor

SEGMENT = 3_000_000
LEVELS = ["DEBUG", "INFO", "INFO", "INFO", "WARN", "ERROR"]
PARTS = ["auth", "cart", "ship", "mail", "sync"]


def make_lines(rng, count):
    """A pool of log lines that segments are drawn from."""
    lines = []
    for _ in range(count):
        fields = " ".join(f"{rng.choice('abcdefgh')}{rng.randint(0, 99)}={rng.getrandbits(24):x}"
                          for _ in range(rng.randint(2, 6)))
        lines.append(f"{rng.choice(LEVELS)} {rng.choice(PARTS)} {fields}\n")
    return lines


def write_segment(path, rng, lines, number):
    size, chosen = 0, []
    while size < SEGMENT:
        block = rng.choices(lines, k=500)
        chosen.extend(block)
        size += sum(map(len, block))
    with open(path, "w", encoding="ascii") as f:
        f.write(f"# segment {number}\n")
        f.writelines(chosen)


def count_levels(path):
    levels = collections.Counter()
    with open(path, encoding="ascii") as f:
        next(f)
        for line in f:
            levels[line.split(" ", 1)[0]] += 1
    return levels


def compress(source, target):
    packer = zlib.compressobj(6)
    with open(source, "rb") as src, open(target, "wb") as dst:
        while block := src.read(1 << 20):
            dst.write(packer.compress(block))
        dst.write(packer.flush())


def verify(source, target):
    """Checks that the archive unpacks to the very bytes of the segment."""
    want, have = hashlib.sha256(), hashlib.sha256()
    with open(source, "rb") as f:
        while block := f.read(1 << 20):
            want.update(block)
    unpacker = zlib.decompressobj()
    with open(target, "rb") as f:
        while block := f.read(1 << 18):
            have.update(unpacker.decompress(block))
    have.update(unpacker.flush())
    if want.digest() != have.digest():
        raise ValueError(f"archive of {source} is damaged")
    return want.hexdigest()


def archive(source):
    levels = count_levels(source)
    target = source + ".z"
    compress(source, target)
    digest = verify(source, target)
    sizes = os.path.getsize(source), os.path.getsize(target)
    os.remove(source)
    return levels, digest, sizes


def rotate(folder, segments, seed):
    rng = random.Random(seed)
    lines = make_lines(rng, 4000)
    pending = collections.deque()
    finished = []
    with ThreadPoolExecutor(max_workers=2) as pool:
        for number in range(segments):
            path = os.path.join(folder, f"app.{number:03d}.log")
            write_segment(path, rng, lines, number)
            pending.append(pool.submit(archive, path))
            if len(pending) > 4:
                finished.append(pending.popleft().result())
        finished.extend(f.result() for f in pending)
    return finished


def main():
    folder = tempfile.mkdtemp(prefix="rotate_archive.")
    try:
        finished = rotate(folder, segments=42, seed=101)
    finally:
        shutil.rmtree(folder)
    levels, check = collections.Counter(), hashlib.sha256()
    raw = packed = 0
    for counts, digest, (before, after) in finished:
        levels.update(counts)
        check.update(digest.encode())
        raw, packed = raw + before, packed + after
    print(dict(sorted(levels.items())))
    print(f"segments {len(finished)} raw {raw} packed {packed} check {check.hexdigest()[:16]}")


if __name__ == "__main__":
    main()
