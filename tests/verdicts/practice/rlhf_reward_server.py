"""Improves a policy with the rewards of a model that another process serves.

Planted: in each step the loop waits 50 ms for the reward server's answer; nothing else runs meanwhile.
Truth: time from the request to the answer, as a share of the loop.
"""
import multiprocessing
import socket
import struct
import time

import torch
from torch import nn

from stopwatch import Stopwatch

TOKENS, LENGTH, BATCH = 1000, 24, 32


def read_all(connection, size):
    parts = b""
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            raise EOFError
        parts += part
    return parts


def serve_rewards(connection):
    try:
        while True:
            answer = read_all(connection, BATCH * LENGTH * 8)
            time.sleep(0.050)  # a large model elsewhere
            connection.sendall(struct.pack(f"{BATCH}f", *(answer[row] / 255 for row in range(BATCH))))
    except EOFError:
        pass


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(TOKENS, 128)
        self.gru = nn.GRU(128, 192, batch_first=True)
        self.out = nn.Linear(192, TOKENS)

    def forward(self, tokens):
        return self.out(self.gru(self.embedding(tokens))[0])


def main():
    torch.manual_seed(18)
    torch.set_num_threads(1)
    ours, theirs = socket.socketpair()
    server = multiprocessing.get_context("fork").Process(target=serve_rewards, args=(theirs,), daemon=True)
    server.start()
    policy = Policy()
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.01)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 9:
            prompts = torch.randint(TOKENS, (BATCH, LENGTH))
            odds = torch.log_softmax(policy(prompts), 2)
            answers = odds.detach().argmax(2)
            with watch.planted():
                ours.sendall(answers.numpy().tobytes())
                rewards = torch.tensor(struct.unpack(f"{BATCH}f", read_all(ours, BATCH * 4)))
            chosen = odds.gather(2, answers.unsqueeze(2)).squeeze(2).mean(1)
            loss = -(chosen * (rewards - rewards.mean())).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    server.terminate()
    print(f"reward {rewards.mean().item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
