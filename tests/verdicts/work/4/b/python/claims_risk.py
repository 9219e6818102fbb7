"""Pure-premium model for motor policies: a Tweedie deviance with hand-written
gradient, and smoothing of the regional effects over neighbouring regions."""
import torch
from torch import nn

POLICIES = 120000
REGIONS = 400
NUMERIC = 14
POWER = 1.6
BATCH = 4096
EPOCHS = 6


class TweedieDeviance(torch.autograd.Function):
    """Mean weighted deviance as a function of the log of the premium; the
    forward pass keeps the two exponentials that the gradient needs."""

    @staticmethod
    def forward(ctx, log_mu, claim, weight):
        low = torch.exp((1 - POWER) * log_mu)
        high = low * torch.exp(log_mu)
        total = weight.sum()
        ctx.save_for_backward(low, high, claim, weight, total)
        dev = 2 * weight * (high / (2 - POWER) - claim * low / (1 - POWER))
        return dev.sum() / total

    @staticmethod
    def backward(ctx, grad):
        low, high, claim, weight, total = ctx.saved_tensors
        return grad * 2 * weight * (high - claim * low) / total, None, None


class RegionSmooth(nn.Module):
    """Regional effect blended with the mean of the neighbours on the map."""

    def __init__(self, source, target):
        super().__init__()
        self.effect = nn.Parameter(torch.zeros(REGIONS))
        self.blend = nn.Parameter(torch.zeros(()))
        self.register_buffer("source", source)
        self.register_buffer("target", target)
        self.register_buffer("degree", torch.bincount(target, minlength=REGIONS).clamp(min=1))

    def forward(self, region):
        near = torch.zeros_like(self.effect).index_add(0, self.target, self.effect[self.source])
        mix = torch.sigmoid(self.blend)
        return ((1 - mix) * self.effect + mix * near / self.degree)[region]


class Premium(nn.Module):
    def __init__(self, source, target):
        super().__init__()
        self.region = RegionSmooth(source, target)
        self.body = nn.Sequential(
            nn.Linear(NUMERIC, 128), nn.SiLU(), nn.Linear(128, 128), nn.SiLU(), nn.Linear(128, 1)
        )
        self.level = nn.Parameter(torch.zeros(()))

    def forward(self, numeric, region):
        return self.level + self.body(numeric).squeeze(1) + self.region(region)


def make_map(g):
    """Regions as a 20 x 20 grid; edges run both ways."""
    side = int(REGIONS**0.5)
    index = torch.arange(REGIONS).view(side, side)
    pairs = torch.cat(
        [
            torch.stack([index[:, :-1].flatten(), index[:, 1:].flatten()]),
            torch.stack([index[:-1].flatten(), index[1:].flatten()]),
        ],
        1,
    )
    return torch.cat([pairs[0], pairs[1]]), torch.cat([pairs[1], pairs[0]])


def make_policies(count, seed):
    g = torch.Generator().manual_seed(seed)
    numeric = torch.randn(count, NUMERIC, generator=g)
    region = torch.randint(0, REGIONS, (count,), generator=g)
    exposure = 0.2 + 0.8 * torch.rand(count, generator=g)
    place = torch.sin(region / 20 * 0.5) * 0.4 + torch.cos((region % 20) * 0.4) * 0.3
    risk = 0.4 * numeric[:, 0] - 0.3 * numeric[:, 1].abs() + 0.2 * numeric[:, 2] * numeric[:, 3]
    rate = 0.12 * torch.exp(risk + place)
    n = torch.poisson(rate * exposure, generator=g)
    size = torch.exp(0.8 * torch.randn(count, generator=g) + 0.1 * numeric[:, 4])
    return numeric, region, n * size / exposure, exposure


def gini(score, claim, exposure):
    order = torch.argsort(score)
    paid = (claim * exposure)[order].double().cumsum(0)
    held = exposure[order].double().cumsum(0)
    curve = torch.trapezoid(paid / paid[-1], held / held[-1])
    return 1 - 2 * curve.item()


@torch.inference_mode()
def evaluate(model, data):
    numeric, region, claim, exposure = data
    log_mu = torch.cat([model(n, r) for n, r in zip(numeric.split(16384), region.split(16384))])
    dev = TweedieDeviance.apply(log_mu, claim, exposure).item()
    ratio = (claim * exposure).sum() / (log_mu.exp() * exposure).sum()
    return dev, gini(log_mu, claim, exposure), ratio.item()


def main():
    torch.manual_seed(15)
    g = torch.Generator().manual_seed(16)
    model = Premium(*make_map(g))
    train, valid = make_policies(POLICIES, 17), make_policies(POLICIES // 4, 18)
    with torch.no_grad():
        model.level.fill_(((train[2] * train[3]).sum() / train[3].sum()).log())
    optimizer = torch.optim.NAdam(
        [
            {"params": model.body.parameters(), "weight_decay": 1e-4},
            {"params": [model.level, *model.region.parameters()], "lr": 1e-2},
        ],
        lr=1e-3,
    )
    for epoch in range(EPOCHS):
        total, steps = torch.zeros(()), 0
        for pick in torch.randperm(POLICIES, generator=g).split(BATCH):
            numeric, region, claim, exposure = (column[pick] for column in train)
            loss = TweedieDeviance.apply(model(numeric, region), claim, exposure)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.detach()
            steps += 1
        dev, lift, ratio = evaluate(model, valid)
        print(
            f"epoch {epoch} train {total.item() / steps:.4f} valid {dev:.4f} "
            f"gini {lift:.3f} claims/premium {ratio:.3f}"
        )


if __name__ == "__main__":
    main()
