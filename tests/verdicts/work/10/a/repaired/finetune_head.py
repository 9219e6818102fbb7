"""Adapts a frozen audio-event backbone to a customer's set of sounds: only the
new classification head is trained, on augmented log-mel patches."""
import math

import torch
from torch import nn
from torch.nn import functional as F

CLASSES = 12
CLIPS = 672
MELS, FRAMES = 40, 64
EPOCHS = 3
BATCH = 32


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        b, n, w = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, w)
        x = x + self.out(mixed)
        return x + self.mlp(self.norm2(x))


class Backbone(nn.Module):
    def __init__(self, width=160, depth=4, heads=4):
        super().__init__()
        self.patch = nn.Linear(MELS * 2, width)
        self.position = nn.Parameter(torch.randn(FRAMES // 2, width) * 0.02)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)

    def forward(self, mel):
        b = mel.shape[0]
        x = mel.transpose(1, 2).reshape(b, FRAMES // 2, MELS * 2)
        x = self.patch(x) + self.position
        x = self.norm(self.blocks(x))
        return torch.cat([x.mean(dim=1), x.amax(dim=1)], dim=1)


class Classifier(nn.Module):
    def __init__(self, backbone, features, classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Sequential(nn.LayerNorm(features), nn.Linear(features, 128), nn.ReLU(), nn.Linear(128, classes))

    def forward(self, mel):
        with torch.no_grad():
            features = self.backbone(mel)
        return self.head(features)


def load_backbone():
    """Stands for the released checkpoint: fixed weights."""
    torch.manual_seed(2024)
    return Backbone()


def synth_clips(count, seed):
    gen = torch.Generator().manual_seed(seed)
    labels = torch.randint(CLASSES, (count,), generator=gen)
    t = torch.linspace(0, 1, FRAMES)
    mel_axis = torch.arange(MELS).float()
    start = 4 + 2.6 * labels.float() + torch.rand(count, generator=gen) * 2
    sweep = torch.where(labels % 2 == 0, 6.0, -3.0)
    rate = 2.0 + (labels % 3).float() * 3
    centre = start[:, None] + sweep[:, None] * t + torch.sin(2 * math.pi * rate[:, None] * t)
    mel = torch.exp(-0.5 * ((mel_axis[None, :, None] - centre[:, None, :]) / 1.5) ** 2)
    return mel + 0.25 * torch.randn(mel.shape, generator=gen), labels


def augment(mel, gen):
    """Random gain, noise and one time mask per batch."""
    gain = 0.8 + 0.4 * torch.rand(mel.shape[0], 1, 1, generator=gen)
    mel = mel * gain + 0.1 * torch.randn(mel.shape, generator=gen)
    at = int(torch.randint(FRAMES - 8, (1,), generator=gen))
    mel[:, :, at:at + 8] = 0.0
    return mel


def accuracy(model, mel, labels):
    model.eval()
    with torch.inference_mode():
        right = sum(int((model(m).argmax(1) == l).sum()) for m, l in zip(mel.split(BATCH), labels.split(BATCH)))
    return right / len(labels)


def main():
    mel, labels = synth_clips(CLIPS, 1)
    test_mel, test_labels = synth_clips(192, 2)
    model = Classifier(load_backbone(), 320, CLASSES)
    optimizer = torch.optim.AdamW(model.head.parameters(), lr=2e-3, weight_decay=0.01)
    loss_fn = nn.CrossEntropyLoss(label_smoothing=0.05)
    gen = torch.Generator().manual_seed(7)
    for epoch in range(EPOCHS):
        model.train()
        losses = []
        for index in torch.randperm(CLIPS, generator=gen).split(BATCH):
            logits = model(augment(mel[index], gen))
            loss = loss_fn(logits, labels[index])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        print(f"epoch {epoch}: loss {torch.stack(losses).mean():.3f}")
    print(f"test accuracy {accuracy(model, test_mel, test_labels):.3f}")


if __name__ == "__main__":
    main()
