"""Learns sentence embeddings; every 8 steps it looks for the hardest negatives of all sentences.

Planted: that search takes several times as long as a step.
Truth: time of the searches, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def hardest(encoder, sentences):
    with torch.no_grad():
        embedded = nn.functional.normalize(encoder(sentences))
        near = []
        for row in embedded:
            similar = embedded @ row
            near.append(similar.topk(2).indices[1])
    return torch.stack(near)


def main():
    torch.manual_seed(61)
    torch.set_num_threads(1)
    encoder = nn.Sequential(nn.EmbeddingBag(5000, 128), nn.Linear(128, 512), nn.Tanh(), nn.Linear(512, 96))
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05)
    sentences = torch.randint(5000, (1200, 24))
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.3:
            if len(watch.marks) % 8 == 0:
                with watch.planted():
                    negatives = hardest(encoder, sentences)
            chosen = torch.randint(1200, (512,))
            anchors, positives = encoder(sentences[chosen]), encoder(sentences[chosen].flip(1))
            loss = nn.functional.triplet_margin_loss(anchors, positives, encoder(sentences[negatives[chosen]]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
