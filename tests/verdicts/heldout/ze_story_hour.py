"""Tells children's stories: a language model writes word by word, a moderator in another process reads along.

Planted: after each fourth word the loop sends the stories' last part to the moderator over loopback and waits for its verdict.
Truth: time of sending and of waiting for verdicts, of the loop.
"""
import difflib
import multiprocessing
import random
import socket

import torch
from torch import nn

from stopwatch import Stopwatch

WORDS, WIDTH, STORIES, CONTEXT, CHUNK = 1200, 256, 8, 32, 4
FORBIDDEN = [a + b + c for a in ("gru", "bla", "kro", "mor") for b in ("del", "sta", "wen", "fi") for c in ("k", "ra", "ton", "sel")]


def moderate(listener):
    """Reads a line for each part of a story and answers with one letter."""
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection, connection.makefile("rw", buffering=1) as lines:
        for line in lines:
            alike = [word for word in line.split() if difflib.get_close_matches(word, FORBIDDEN, 1, 0.9)]
            lines.write("n\n" if alike else "y\n")


class Teller(nn.Module):
    """Sees the last words only."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.place = nn.Parameter(torch.randn(CONTEXT, WIDTH) * 0.02)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, context):
        return self.head(self.layers(self.words(context) + self.place)[:, -1])


class Moderator:
    def __init__(self, address):
        self.connection = socket.create_connection(address)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.lines = self.connection.makefile("rw", buffering=1)

    def agrees(self, text):
        self.lines.write(text + "\n")
        return self.lines.readline() == "y\n"


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    process = multiprocessing.get_context("fork").Process(target=moderate, args=(listener,), daemon=True)
    process.start()
    moderator = Moderator(listener.getsockname())
    torch.manual_seed(13)
    torch.set_num_threads(1)
    random.seed(13)
    names = ["".join(random.choices(("gru", "la", "mi", "sta", "ko", "wen", "del", "o", "bri"), k=random.randint(1, 4))) for _ in range(WORDS)]
    model, watch, refused, count = Teller().eval(), Stopwatch(), 0, 0
    context = torch.randint(0, WORDS, (STORIES, CONTEXT))
    with torch.inference_mode(), watch.loop():
        while watch.seconds() < 6.5:
            logits = model(context)
            said = torch.multinomial((logits / 0.8).softmax(-1), 1)
            context = torch.cat([context[:, 1:], said], dim=1)
            count += 1
            if count % CHUNK == 0:
                text = " ".join(names[number] for number in context.flatten().tolist())
                with watch.planted():
                    agreed = moderator.agrees(text)
                if not agreed:
                    refused += 1
                    context[:, -CHUNK:] = torch.randint(0, WORDS, (STORIES, CHUNK))
            watch.step()
    moderator.lines.close()
    moderator.connection.close()
    process.join(2)
    print(f"{count} words for each story, {refused} parts refused")
    watch.tell()


if __name__ == "__main__":
    main()
