"""Learns from a small table of measurements in many short epochs.

The fault: the DataLoader starts its workers anew in each epoch, and each epoch is short.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

ROWS, EPOCHS = 1200, 30


class Measurements(Dataset):
    def __init__(self):
        self.rows = torch.randn(ROWS, 400)
        self.wanted = self.rows[:, :8].sin().sum(1, keepdim=True)

    def __len__(self):
        return ROWS

    def __getitem__(self, number):
        noise = 0.01 * torch.randn(400)
        return self.rows[number] + noise, self.wanted[number]


def main():
    torch.manual_seed(2)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(400, 700), nn.GELU(), nn.Linear(700, 700), nn.GELU(), nn.Linear(700, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    loader = DataLoader(Measurements(), batch_size=100, shuffle=True, num_workers=2)
    for epoch in range(EPOCHS):
        total = 0.0
        for rows, wanted in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(rows), wanted)
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 10 == 9:
            print(f"epoch {epoch}: loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
