"""Continues proverbs with a small decoder.

Planted: nothing; products of matrices take nearly all of each step.
Truth: time of choosing the batch, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch


def main():
    torch.manual_seed(137)
    torch.set_num_threads(1)
    embedding, head = nn.Embedding(512, 192), nn.Linear(192, 512)
    layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(192, 6, 768, dropout=0.0, batch_first=True), 2, enable_nested_tensor=False)
    optimizer = torch.optim.SGD([*embedding.parameters(), *layers.parameters(), *head.parameters()], lr=0.01)
    text, mask = torch.randint(512, (20000,)), nn.Transformer.generate_square_subsequent_mask(96)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3.8:
            with watch.planted():
                places = torch.randint(19800, (10, 1)) + torch.arange(97)
                words = text[places]
            scores = head(layers(embedding(words[:, :-1]), mask=mask, is_causal=True))
            loss = nn.functional.cross_entropy(scores.flatten(0, 1), words[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
