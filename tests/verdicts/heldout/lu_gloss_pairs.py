"""Which word of a sentence is which word of its gloss: two recurrent readers and a table of products between them, trained in pairs.

Clean: sentences of one length in memory, fused AdamW, one thread.
Truth: time of the clipping of gradients, as a share of the loop.
"""
import torch
from torch import nn

from stopwatch import Stopwatch

WORDS, GLOSSES, LENGTH, BATCH = 3000, 900, 24, 48
watch = Stopwatch()


class Reader(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.word = nn.Embedding(words, width)
        self.read = nn.LSTM(width, width, batch_first=True, bidirectional=True)

    def forward(self, text):
        return self.read(self.word(text))[0]


class Aligner(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.sentence, self.gloss = Reader(WORDS, width), Reader(GLOSSES, width)
        self.scale = (2 * width) ** -0.5

    def forward(self, sentence, gloss):
        table = self.sentence(sentence) @ self.gloss(gloss).transpose(1, 2) * self.scale
        return table.log_softmax(2)


def main():
    torch.manual_seed(28)
    torch.set_num_threads(1)
    model = Aligner()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    sentences = torch.randint(0, WORDS, (BATCH * 20, LENGTH))
    order = torch.argsort(torch.rand(BATCH * 20, LENGTH), 1)
    glosses = (sentences % GLOSSES).gather(1, order)
    where = torch.argsort(order, 1)
    with watch.loop():
        for step in watch.limited(range(100000), 6.2):
            rows = slice(step % 20 * BATCH, (step % 20 + 1) * BATCH)
            loss = nn.functional.nll_loss(model(sentences[rows], glosses[rows]).flatten(0, 1), where[rows].flatten())
            optimizer.zero_grad()
            loss.backward()
            with watch.planted():
                nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            watch.step()
    print(f"loss {loss.item():.4f}")
    watch.tell()


main()
