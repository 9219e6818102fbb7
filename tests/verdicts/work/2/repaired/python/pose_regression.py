"""Regresses joint angles of a planar arm from marker trajectories."""
import numpy as np
import torch
from torch import nn

JOINTS = 6
MARKERS = 18
WINDOW = 40


def simulate(count, seed):
    rng = np.random.default_rng(seed)
    base = rng.uniform(-1, 1, (count, 1, JOINTS))
    speed = rng.uniform(-0.5, 0.5, (count, 1, JOINTS))
    clock = np.linspace(0, 1, WINDOW)[None, :, None]
    angles = base + speed * np.sin(2 * np.pi * clock)
    total = np.cumsum(angles, axis=2)
    x, y = np.cumsum(np.cos(total), 2), np.cumsum(np.sin(total), 2)
    mid_x, mid_y = x - 0.5 * np.cos(total), y - 0.5 * np.sin(total)
    markers = np.concatenate([x, y, mid_x, mid_y, x - 0.2, y + 0.2], axis=2)
    markers += 0.02 * rng.standard_normal(markers.shape)
    return markers, angles[:, -1]


def to_tensors(markers, angles):
    markers = (markers - markers.mean((0, 1))) / markers.std((0, 1))
    return torch.from_numpy(markers).float().transpose(1, 2).contiguous(), torch.from_numpy(angles).float()


class PoseNet(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(2 * MARKERS, width, 5, padding=2), nn.ReLU(),
            nn.Conv1d(width, width, 5, padding=2, stride=2), nn.ReLU(),
            nn.Conv1d(width, width, 5, padding=2, stride=2), nn.ReLU(),
        )
        self.head = nn.Sequential(nn.Linear(width * WINDOW // 4, 256), nn.ReLU(), nn.Linear(256, JOINTS))

    def forward(self, x):
        return self.head(self.encoder(x).flatten(1))


class Trainer:
    def __init__(self, model, inputs, targets):
        self.inputs, self.targets = inputs, targets
        self.model = model.to(inputs.dtype)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def epoch(self, batch):
        order = torch.randperm(len(self.inputs))
        total = 0.0
        for rows in order.split(batch):
            loss = nn.functional.smooth_l1_loss(self.model(self.inputs[rows]), self.targets[rows])
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(rows)
        return total / len(self.inputs)


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    inputs, targets = to_tensors(*simulate(1500, seed=4))
    trainer = Trainer(PoseNet(), inputs, targets)
    for epoch in range(4):
        print(f"epoch {epoch} loss {trainer.epoch(64):.2f}")


if __name__ == "__main__":
    main()
