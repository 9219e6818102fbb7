"""Trains a vector-quantised codec for terrain textures, with a critic.

The codec passes gradients through the quantiser by a straight-through
function; its codebook follows exponential means. Codec and critic have an
optimizer each.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

SIZE = 32
BATCH = 24
STEPS = 72
CODES = 256
DIM = 24


class PassThrough(torch.autograd.Function):
    """Forward: the code vectors. Backward: the gradient goes to the encoder as it is."""

    @staticmethod
    def forward(ctx, encoded, quantised):
        return quantised

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class Quantiser(nn.Module):
    def __init__(self, decay=0.97):
        super().__init__()
        self.decay = decay
        self.register_buffer("codes", torch.randn(CODES, DIM) * 0.5)
        self.register_buffer("mass", torch.ones(CODES))
        self.register_buffer("sums", self.codes.clone())
        self.seeded = False

    @torch.no_grad()
    def seed(self, flat):
        rows = torch.randperm(len(flat))[:CODES]
        self.codes.copy_(flat[rows])
        self.sums.copy_(self.codes)
        self.seeded = True

    def nearest(self, flat):
        # |x - c|^2 without |x|^2, which is the same for all codes
        distance = torch.addmm(self.codes.square().sum(dim=1), flat, self.codes.T, alpha=-2.0)
        return distance.argmin(dim=1)

    @torch.no_grad()
    def follow(self, flat, index):
        count = torch.bincount(index, minlength=CODES).to(flat.dtype)
        sums = torch.zeros_like(self.sums).index_add_(0, index, flat)
        self.mass.lerp_(count, 1 - self.decay)
        self.sums.lerp_(sums, 1 - self.decay)
        self.codes.copy_(self.sums / self.mass.clamp(min=1e-3).unsqueeze(1))
        idle = self.mass < 0.02
        if idle.any():
            rows = torch.randint(len(flat), (int(idle.sum()),))
            self.codes[idle] = flat[rows]
            self.sums[idle] = flat[rows]
            self.mass[idle] = 1.0

    def forward(self, encoded):
        n, c, h, w = encoded.shape
        flat = encoded.permute(0, 2, 3, 1).reshape(-1, c)
        if self.training and not self.seeded:
            self.seed(flat)
        with torch.no_grad():
            index = self.nearest(flat)
        quantised = self.codes[index].view(n, h, w, c).permute(0, 3, 1, 2).contiguous()
        if self.training:
            self.follow(flat.detach(), index)
        commit = F.mse_loss(encoded, quantised)
        return PassThrough.apply(encoded, quantised), commit, index


class Codec(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, 32, 4, stride=2, padding=1), nn.SiLU(),
            nn.Conv2d(32, 64, 4, stride=2, padding=1), nn.SiLU(),
            nn.Conv2d(64, 64, 3, padding=1), nn.SiLU(),
            nn.Conv2d(64, DIM, 1),
        )
        self.quantiser = Quantiser()
        self.decoder = nn.Sequential(
            nn.Conv2d(DIM, 64, 3, padding=1), nn.SiLU(),
            nn.ConvTranspose2d(64, 48, 4, stride=2, padding=1), nn.SiLU(),
            nn.ConvTranspose2d(48, 32, 4, stride=2, padding=1), nn.SiLU(),
            nn.Conv2d(32, 3, 3, padding=1),
        )

    def forward(self, x):
        quantised, commit, index = self.quantiser(self.encoder(x))
        return self.decoder(quantised), commit, index


class Critic(nn.Module):
    """Judges patches, not whole textures."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 24, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(24, 48, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(48, 1, 3, padding=1),
        )

    def forward(self, x):
        return self.body(x)


class Textures:
    """Sums of oriented waves with a colour ramp: rock, sand and grass."""

    RAMPS = torch.tensor([[[0.3, 0.3, 0.33], [0.75, 0.72, 0.7]], [[0.7, 0.55, 0.35], [0.95, 0.85, 0.6]],
                          [[0.1, 0.3, 0.1], [0.45, 0.65, 0.25]]])

    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)
        axis = torch.arange(SIZE, dtype=torch.float32)
        self.y, self.x = torch.meshgrid(axis, axis, indexing="ij")

    def batch(self, n):
        g = self.g
        angle = torch.rand(n, 5, 1, 1, generator=g) * math.pi
        rate = torch.rand(n, 5, 1, 1, generator=g) * 0.9 + 0.1
        phase = torch.rand(n, 5, 1, 1, generator=g) * 2 * math.pi
        wave = torch.sin((self.x * angle.cos() + self.y * angle.sin()) * rate + phase)
        height = (wave / (1 + 2 * rate)).sum(dim=1, keepdim=True)
        height = torch.sigmoid(1.5 * height + 0.15 * torch.randn(height.shape, generator=g))
        ramp = self.RAMPS[torch.randint(0, 3, (n,), generator=g)].unsqueeze(-1).unsqueeze(-1)
        return (ramp[:, 0] + (ramp[:, 1] - ramp[:, 0]) * height) * 2 - 1


def critic_step(critic, optimizer, real, made):
    loss = F.relu(1 - critic(real)).mean() + F.relu(1 + critic(made)).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


def codec_step(codec, critic, optimizer, real, weight):
    made, commit, _ = codec(real)
    loss = F.l1_loss(made, real) + 0.25 * commit
    if weight > 0:
        critic.requires_grad_(False)
        loss = loss - weight * critic(made).mean()
        critic.requires_grad_(True)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return made.detach()


@torch.no_grad()
def evaluate(codec, batches=4):
    codec.eval()
    source = Textures(seed=900)
    error, used = 0.0, torch.zeros(CODES, dtype=torch.long)
    for _ in range(batches):
        x = source.batch(48)
        made, _, index = codec(x)
        error += F.mse_loss(made, x).item() / batches
        used += torch.bincount(index, minlength=CODES)
    share = used[used > 0] / used.sum()
    codec.train()
    return 10 * math.log10(4 / error), float(torch.exp(-(share * share.log()).sum()))


def main():
    torch.manual_seed(40)
    codec, critic, source = Codec(), Critic(), Textures(seed=1)
    codec_opt = torch.optim.Adam(codec.parameters(), lr=2e-3, betas=(0.8, 0.99))
    critic_opt = torch.optim.RMSprop(critic.parameters(), lr=3e-4)
    for step in range(STEPS):
        real = source.batch(BATCH)
        weight = 0.02 if step >= STEPS // 3 else 0.0
        made = codec_step(codec, critic, codec_opt, real, weight)
        if weight > 0:
            critic_step(critic, critic_opt, real, made)
    psnr, perplexity = evaluate(codec)
    print(f"{STEPS} steps: PSNR {psnr:.2f} dB, {perplexity:.1f} codes in effective use")


if __name__ == "__main__":
    main()
