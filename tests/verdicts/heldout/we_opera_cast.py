"""Groups the voices of an opera's cast by their spectra: a mixture of prototypes in NumPy, over features of a fixed random network.

Planted: distances are taken from one difference of all frames and all prototypes, an array of 37 MB that is made, squared into another and freed in each step.
Truth: time of these distances, of the loop; a product of matrices would do.
"""
import numpy as np

from stopwatch import Stopwatch

try:
    from dwell import step as mark_step
except ImportError:
    def mark_step():
        pass

FRAMES, VOICES, BANDS, FEATURES = 1500, 48, 1024, 128


class Voices:
    def __init__(self, random):
        self.prototypes = random.standard_normal((VOICES, FEATURES)).astype(np.float32)
        self.softness = np.float32(12.0)
        self.first = random.standard_normal((BANDS, 384)).astype(np.float32) / np.float32(32)
        self.second = random.standard_normal((384, FEATURES)).astype(np.float32) / np.float32(16)

    def features(self, spectra):
        seen = spectra @ self.first
        np.maximum(seen, 0, out=seen)
        return seen @ self.second

    def distances(self, frames):
        difference = frames[:, None, :] - self.prototypes[None, :, :]
        return (difference * difference).sum(axis=2)

    def learn(self, spectra, watch, rate=np.float32(0.02)):
        frames = self.features(spectra)
        with watch.planted():
            far = self.distances(frames)
        nearest = far.min(axis=1, keepdims=True)
        share = np.exp((nearest - far) / self.softness)
        share /= share.sum(axis=1, keepdims=True)
        weight = share.sum(axis=0)[:, None] + np.float32(1.0)
        self.prototypes += rate * (share.T @ frames - (weight - 1) * self.prototypes) / weight
        return float(nearest.mean())


def main():
    random = np.random.default_rng(5)
    spectra = random.standard_normal((12, FRAMES, BANDS)).astype(np.float32)
    voices, watch, far = Voices(random), Stopwatch(), 0.0
    with watch.loop():
        for number in watch.limited(range(100_000), 6):
            mark_step()
            far = voices.learn(spectra[number % 12], watch)
            watch.step()
    watch.tell(far=round(far, 2))


if __name__ == "__main__":
    main()
