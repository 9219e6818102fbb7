"""Turns machine recordings into normalised log-mel patches for training."""
import io
import math
import wave
import zlib

import numpy as np
import torch

RATE = 16000
FFT = 512
HOP = 160
MELS = 40
PATCH = 96


def synth_recording(seed, seconds):
    """A motor hum with harmonics, load changes and background noise, as WAV bytes."""
    rng = np.random.default_rng(seed)
    t = np.arange(seconds * RATE) / RATE
    base = rng.uniform(40, 160)
    load = 1 + 0.1 * np.sin(2 * math.pi * t / rng.uniform(2, 6))
    phase = 2 * math.pi * np.cumsum(base * load) / RATE
    sound = sum(np.sin(k * phase) / k for k in range(1, 6))
    sound = 0.2 * sound + 0.05 * rng.standard_normal(len(t))
    pcm = np.clip(sound * 20000, -32767, 32767).astype("<i2")
    out = io.BytesIO()
    with wave.open(out, "wb") as w:
        w.setnchannels(1)
        w.setsampwidth(2)
        w.setframerate(RATE)
        w.writeframes(pcm.tobytes())
    return out.getvalue()


def read_wav(data):
    with wave.open(io.BytesIO(data)) as w:
        frames = w.readframes(w.getnframes())
    return torch.from_numpy(np.frombuffer(frames, dtype="<i2").astype(np.float32) / 32768.0)


def mel_filters():
    def to_mel(f):
        return 2595 * math.log10(1 + f / 700)

    points = torch.linspace(to_mel(30), to_mel(RATE / 2), MELS + 2)
    hertz = 700 * (10 ** (points / 2595) - 1)
    bins = torch.linspace(0, RATE / 2, FFT // 2 + 1)
    left, centre, right = hertz[:-2, None], hertz[1:-1, None], hertz[2:, None]
    rising = (bins - left) / (centre - left)
    falling = (right - bins) / (right - centre)
    return torch.minimum(rising, falling).clamp(min=0)


class LogMel:
    def __init__(self):
        self.window = torch.hann_window(FFT)
        self.filters = mel_filters()

    def __call__(self, sound):
        spectrum = torch.stft(sound, FFT, HOP, window=self.window, return_complex=True)
        power = spectrum.real.square() + spectrum.imag.square()
        return (self.filters @ power).clamp(min=1e-8).log()


class RunningStats:
    """Mean and variance per mel band over everything seen."""

    def __init__(self):
        self.count = 0
        self.total = torch.zeros(MELS, dtype=torch.float64)
        self.square = torch.zeros(MELS, dtype=torch.float64)

    def add(self, features):
        f = features.double()
        self.count += f.shape[1]
        self.total += f.sum(1)
        self.square += f.square().sum(1)

    def finish(self):
        mean = self.total / self.count
        std = (self.square / self.count - mean.square()).clamp(min=1e-6).sqrt()
        return mean.float(), std.float()


def patches(features):
    count = features.shape[1] // PATCH
    return features[:, :count * PATCH].reshape(MELS, count, PATCH).transpose(0, 1)


def main():
    transform, stats, kept = LogMel(), RunningStats(), []
    for number in range(75):
        features = transform(read_wav(synth_recording(80 + number, seconds=30)))
        stats.add(features)
        kept.append(patches(features))
    mean, std = stats.finish()
    data = (torch.cat(kept) - mean.view(1, -1, 1)) / std.view(1, -1, 1)
    loudness = data.mean(dim=(1, 2))
    print(f"patches {tuple(data.shape)} mean {data.mean().item():.4f} std {data.std().item():.4f}")
    print(f"loudest {int(loudness.argmax())} quietest {int(loudness.argmin())}")
    print("check", zlib.crc32(np.round(mean.numpy(), 3).tobytes()))


if __name__ == "__main__":
    main()
