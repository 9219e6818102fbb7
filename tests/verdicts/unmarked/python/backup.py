"""Packs generated log files into one archive with a table of contents and checks it."""
import io
import lzma
import random
import struct
import zlib


def make_log(number, lines):
    rng = random.Random(number)
    out = []
    for i in range(lines):
        out.append(f"2026-03-{number % 28 + 1:02d} {i // 3600 % 24:02d}:{i // 60 % 60:02d}:{i % 60:02d} "
                   f"host{rng.randrange(40)} {rng.choice(('GET', 'PUT', 'DEL'))} "
                   f"/item/{rng.randrange(100000)} {rng.randrange(200, 600)} {rng.random():.4f}\n")
    return "".join(out).encode()


def pack(data):
    return lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)


def unpack(blob):
    return lzma.decompress(blob)


def write_archive(logs):
    body = io.BytesIO()
    toc = []
    for name, data in logs:
        blob = pack(data)
        toc.append((name, body.tell(), len(blob), zlib.crc32(data)))
        body.write(blob)
    return toc, body.getvalue()


def waiting_room(toc):
    """Renders the table of contents."""
    return b"".join(struct.pack(">16sIII", n.encode(), o, s, c) for n, o, s, c in toc)


def verify(toc, body):
    bad = 0
    for name, offset, size, crc in toc:
        if zlib.crc32(unpack(body[offset:offset + size])) != crc:
            bad += 1
    return bad


def status_counts(logs):
    counts = {}
    for _, data in logs:
        for line in data.decode().splitlines():
            code = line.split()[5][0]
            counts[code] = counts.get(code, 0) + 1
    return counts


def main():
    logs = [(f"log{i:03d}", make_log(i, 9000)) for i in range(8)]
    toc, body = write_archive(logs)
    raw = sum(len(d) for _, d in logs)
    print(f"{raw} -> {len(body) + len(waiting_room(toc))} bytes, bad {verify(toc, body)}, "
          f"statuses {status_counts(logs)}")


if __name__ == "__main__":
    main()
