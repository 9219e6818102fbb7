"""Builds a compressed tile pyramid from a large synthetic ortho image."""
import hashlib
import pathlib
import struct
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np

TILE = 256
SIDE = 4096


def synth_scene(side, seed):
    """Smooth terrain colours with field boundaries and sensor noise."""
    rng = np.random.default_rng(seed)
    y = np.linspace(0, 9, side, dtype=np.float32)[:, None]
    x = np.linspace(0, 9, side, dtype=np.float32)[None, :]
    scene = np.empty((side, side, 3), dtype=np.uint8)
    for band in range(3):
        base = 110 + 40 * np.sin(x * (1 + 0.3 * band)) * np.cos(y * (1.2 - 0.2 * band))
        base += 15 * ((x * 3 + y * 2).astype(np.int32) % 2)
        base += rng.integers(0, 6, (side, side), dtype=np.int16)
        scene[:, :, band] = np.clip(base, 0, 255)
    return scene


def halve(image):
    h, w, c = image.shape
    blocks = image.reshape(h // 2, 2, w // 2, 2, c).astype(np.uint16)
    return ((blocks[:, 0, :, 0] + blocks[:, 0, :, 1] + blocks[:, 1, :, 0] + blocks[:, 1, :, 1] + 2) >> 2).astype(np.uint8)


def predict(tile):
    """Horizontal differencing, like the PNG sub filter."""
    out = tile.copy()
    out[:, 1:] -= tile[:, :-1]
    return out


def restore(delta):
    return np.cumsum(delta, axis=1, dtype=np.uint8)


class TileWriter:
    def __init__(self, folder):
        self.folder = folder
        self.count = 0
        self.bytes = 0

    def encode(self, tile):
        return zlib.compress(predict(tile).tobytes(), 6)

    def tiles(self, image):
        for ty in range(0, image.shape[0], TILE):
            for tx in range(0, image.shape[1], TILE):
                yield image[ty:ty + TILE, tx:tx + TILE]

    def write_level(self, level, image, pool):
        path = self.folder / f"level-{level}.bin"
        with path.open("wb") as f:
            for data in pool.map(self.encode, self.tiles(image)):
                f.write(struct.pack("<I", len(data)))
                f.write(data)
                self.count += 1
                self.bytes += len(data)
        return path


def read_tiles(path):
    with path.open("rb") as f:
        while head := f.read(4):
            size, = struct.unpack("<I", head)
            raw = np.frombuffer(zlib.decompress(f.read(size)), dtype=np.uint8)
            yield restore(raw.reshape(TILE, TILE, 3))


def verify(paths):
    digest = hashlib.sha256()
    for path in paths:
        for tile in read_tiles(path):
            digest.update(tile.mean(axis=(0, 1)).round(3).tobytes())
    return digest.hexdigest()[:16]


def main():
    with tempfile.TemporaryDirectory() as tmp, ThreadPoolExecutor(2) as pool:
        writer = TileWriter(pathlib.Path(tmp))
        image, level, paths = synth_scene(SIDE, seed=3), 0, []
        while True:
            paths.append(writer.write_level(level, image, pool))
            if image.shape[0] <= TILE:
                break
            image, level = halve(image), level + 1
        digest = verify(paths)
    print(f"levels {level + 1} tiles {writer.count} bytes {writer.bytes} digest {digest}")


if __name__ == "__main__":
    main()
