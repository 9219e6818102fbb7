"""Serves orders of a bakery chain: tills ask over loopback how much of each bread to bake, the server answers in batches.

Planted: the server keeps each batch open for 8 ms, or until it has 32 requests, but there are only six tills and each waits for its answer.
Truth: time that the server waits for more requests while all tills have asked, of the loop.
"""
import queue
import socket
import struct
import threading
import time

import torch
from torch import nn

from stopwatch import Stopwatch

TILLS, HOURS, BREADS, WIDTH = 6, 48, 24, 192
LARGEST_BATCH, WINDOW_S = 32, 0.008
QUESTION, ANSWER = struct.Struct(f"{HOURS}H"), struct.Struct(f"{BREADS}f")


class Baker(nn.Module):
    def __init__(self):
        super().__init__()
        self.sold = nn.Embedding(500, WIDTH)
        self.hour = nn.Parameter(torch.randn(HOURS, WIDTH) * 0.02)
        layer = nn.TransformerEncoderLayer(WIDTH, 6, 4 * WIDTH, dropout=0.0, batch_first=True, activation="gelu")
        self.layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.bake = nn.Linear(WIDTH, BREADS)

    def forward(self, sold):
        return self.bake(self.layers(self.sold(sold) + self.hour).mean(1))


def exactly(connection, size):
    parts = b""
    while len(parts) < size:
        more = connection.recv(size - len(parts))
        if not more:
            raise ConnectionError
        parts += more
    return parts


def till(address, number, stop):
    """Sells what was baked and asks again."""
    sold = [(number * 31 + hour * 7) % 500 for hour in range(HOURS)]
    with socket.create_connection(address) as server:
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while not stop.is_set():
                server.sendall(QUESTION.pack(*sold))
                baked = ANSWER.unpack(exactly(server, ANSWER.size))
                sold = sold[1:] + [int(abs(baked[number]) * 100) % 500]
        except (ConnectionError, OSError):
            pass


class Batcher:
    """Collects requests of all connections."""

    def __init__(self, watch):
        self.requests, self.watch = queue.Queue(), watch
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()

    def accept(self, count):
        for _ in range(count):
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.read, args=(connection,), daemon=True).start()

    def read(self, connection):
        try:
            while True:
                self.requests.put((connection, QUESTION.unpack(exactly(connection, QUESTION.size))))
        except (ConnectionError, OSError):
            pass

    def next(self, timeout):
        try:
            return self.requests.get(timeout=timeout)
        except queue.Empty:
            return None

    def collect(self):
        batch = [self.requests.get()]
        closes = time.monotonic() + WINDOW_S
        while len(batch) < LARGEST_BATCH:
            left = closes - time.monotonic()
            if left <= 0:
                break
            if len(batch) < TILLS:
                request = self.next(left)
            else:
                with self.watch.planted():
                    request = self.next(left)
            if request is None:
                break
            batch.append(request)
        return batch


def main():
    torch.manual_seed(2)
    torch.set_num_threads(1)
    model, watch, stop = Baker().eval(), Stopwatch(), threading.Event()
    batcher = Batcher(watch)
    tills = [threading.Thread(target=till, args=(batcher.address, number, stop), daemon=True) for number in range(TILLS)]
    for one in tills:
        one.start()
    batcher.accept(TILLS)
    answered = 0
    with torch.inference_mode(), watch.loop():
        while watch.seconds() < 6.5:
            batch = batcher.collect()
            loaves = model(torch.tensor([sold for _, sold in batch])).tolist()
            for (connection, _), row in zip(batch, loaves):
                connection.sendall(ANSWER.pack(*row))
            answered += len(batch)
            watch.step()
    stop.set()
    print(f"{answered} answers")
    watch.tell()


if __name__ == "__main__":
    main()
