"""Learns embeddings of songs with a margin between each song and its nearest wrong neighbour.

The fault: the loss walks over the samples of a batch in Python and asks for a number of each with item().
"""
import torch
from torch import nn

BATCH, STEPS, MARGIN = 96, 120, 0.2


def margin_loss(songs, others):
    near = songs @ others.t()
    losses, wrong = [], 0
    for number in range(len(songs)):
        rivals = torch.cat([near[number, :number], near[number, number + 1:]])
        loss = torch.relu(MARGIN + rivals.max() - near[number, number])
        wrong += loss.item() > 0
        losses.append(loss)
    return torch.stack(losses).mean(), wrong


def main():
    torch.manual_seed(4)
    torch.set_num_threads(1)
    encoder = nn.Sequential(nn.Linear(512, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 128))
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
    for step in range(STEPS):
        songs = torch.randn(BATCH, 512)
        others = songs + 1.5 * torch.randn(BATCH, 512)
        optimizer.zero_grad()
        first, second = (nn.functional.normalize(encoder(part)) for part in (songs, others))
        loss, wrong = margin_loss(first, second)
        loss.backward()
        optimizer.step()
        if step % 30 == 29:
            print(f"step {step}: loss {loss.item():.4f}, {int(wrong)} wrong")


if __name__ == "__main__":
    main()
