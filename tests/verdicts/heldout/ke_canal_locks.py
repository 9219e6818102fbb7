"""Foresees how long boats wait at the locks of a canal: an encoder of transformers over the last forty passages.

Clean: batches of one size lie in memory, two layers of attention are trained with a fused AdamW; the machine computes.
Truth: nothing is planted; the time of taking a batch from memory.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

PASSAGES, FEATURES, BATCH = 40, 16, 24


class Locks(nn.Module):
    def __init__(self, wide=160):
        super().__init__()
        self.enter = nn.Linear(FEATURES, wide)
        self.place = nn.Parameter(0.02 * torch.randn(PASSAGES, wide))
        layer = nn.TransformerEncoderLayer(wide, 4, 480, dropout=0.0, batch_first=True, norm_first=True)
        self.think = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.wait = nn.Linear(wide, 1)

    def forward(self, passages):
        return self.wait(self.think(self.enter(passages) + self.place)[:, -1]).squeeze(1)


def main():
    torch.manual_seed(22)
    torch.set_num_threads(1)
    watch = Stopwatch()
    passages = torch.randn(40 * BATCH, PASSAGES, FEATURES)
    waits = passages[:, -5:, 2].sum(1) + 0.1 * torch.randn(len(passages))
    model = Locks()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    with watch.loop():
        for number in watch.limited(range(100000), 6.5):
            with watch.planted():
                at = number % 40 * BATCH
                seen, wait = passages[at:at + BATCH], waits[at:at + BATCH]
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.mse_loss(model(seen), wait)
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


if __name__ == "__main__":
    main()
