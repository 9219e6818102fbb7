"""Fits a new classification head on a pretrained convolutional encoder."""
import torch
from torch import nn
import torch.nn.functional as F

SPECIES = 10
SIDE = 56


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for width, stride in ((24, 2), (48, 1), (48, 2), (96, 1), (96, 2), (128, 1)):
            layers += [nn.Conv2d(channels, width, 3, stride=stride, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
            channels = width
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x).mean((2, 3))


class LeafClassifier(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(128, 96), nn.ReLU(), nn.Linear(96, SPECIES))

    def forward(self, x):
        with torch.no_grad():
            features = self.encoder(x)
        return self.head(features)


def load_pretrained():
    generator = torch.Generator().manual_seed(42)
    encoder = Encoder()
    state = {}
    for name, value in encoder.state_dict().items():
        if value.dim() > 1:
            fan = value[0].numel()
            value = torch.randn(value.shape, generator=generator) * (2 / fan) ** 0.5
        state[name] = value
    encoder.load_state_dict(state)
    return encoder


def photos(count, seed):
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(0, SPECIES, (count,), generator=g)
    axis = torch.linspace(-1, 1, SIDE)
    frequency = (2 + label)[:, None, None].float()
    pattern = torch.sin(frequency * axis[None, :, None] * 3) * torch.cos(frequency * axis[None, None, :] * 2)
    image = pattern[:, None].repeat(1, 3, 1, 1) + 0.3 * torch.randn(count, 3, SIDE, SIDE, generator=g)
    return image, label


def jitter(images):
    if torch.rand(()) < 0.5:
        images = images.flip(3)
    shift = int(torch.randint(-4, 5, ()))
    return images.roll(shift, 2) * (0.9 + 0.2 * torch.rand(len(images), 1, 1, 1))


def fit_head(model, images, labels, epochs):
    optimizer = torch.optim.AdamW(model.head.parameters(), lr=3e-3)
    model.encoder.eval()
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(images)).split(32):
            loss = F.cross_entropy(model(jitter(images[rows])), labels[rows])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        print(f"epoch {epoch} loss {total / len(images):.4f}")


def main():
    torch.manual_seed(9)
    torch.set_num_threads(1)
    model = LeafClassifier(load_pretrained())
    images, labels = photos(384, seed=1)
    fit_head(model, images, labels, epochs=3)
    model.eval()
    with torch.no_grad():
        right = (model(images[:128]).argmax(1) == labels[:128]).float().mean()
    print(f"accuracy {right.item():.3f}")


if __name__ == "__main__":
    main()
