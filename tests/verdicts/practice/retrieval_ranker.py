"""Learns to rank documents with a listwise loss.

Planted: the loss sorts all scores of a batch in full, where a partial order would do: one operator.
Truth: time of torch.sort() (its forward pass), as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

QUERIES, DOCUMENTS, FEATURES = 48, 12_000, 6


def listwise_loss(scores, relevance, watch):
    with watch.planted():
        ordered, order = torch.sort(scores, dim=1, descending=True)
    gains = torch.gather(relevance, 1, order)[:, :200]
    discount = 1 / torch.log2(torch.arange(200) + 2.0)
    return -(torch.log_softmax(ordered[:, :200], 1) * gains * discount).sum(1).mean()


def main():
    torch.manual_seed(9)
    ranker = nn.Linear(FEATURES, 1)
    optimizer = torch.optim.SGD(ranker.parameters(), lr=0.01)
    documents = torch.randn(QUERIES * 2, DOCUMENTS, FEATURES)
    relevance = (documents[..., 0] > 1).float()
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 9:
            first = len(watch.marks) % 2 * QUERIES
            scores = ranker(documents[first:first + QUERIES]).squeeze(2)
            loss = listwise_loss(scores, relevance[first:first + QUERIES], watch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
