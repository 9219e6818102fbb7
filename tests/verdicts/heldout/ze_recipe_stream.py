"""Streams recipes word by word to a kitchen's screen on loopback, while a model of gated layers writes them.

Decoy: a socket, a lock that a screen's thread takes too, a queue of orders, .tolist(), a flushed line, gc.collect() on a frozen heap and a growing list, all small.
Truth: time of all that is not the model, of the loop.
"""
import gc
import queue
import socket
import tempfile
import threading

import torch
from torch import nn

from stopwatch import Stopwatch

WORDS, WIDTH, ORDERS, LENGTH = 3000, 448, 40, 30


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.mix = nn.Linear(2 * WIDTH, WIDTH)
        self.wide, self.gate, self.narrow = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(3 * WIDTH, WIDTH)

    def forward(self, x, held):
        held = torch.tanh(self.mix(torch.cat([self.norm(x), held], dim=1)))
        return x + self.narrow(nn.functional.silu(self.gate(held)) * self.wide(held)), held


class Cook(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Gated() for _ in range(4))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, word, held):
        x, kept = self.words(word), []
        for layer, old in zip(self.layers, held):
            x, new = layer(x, old)
            kept.append(new)
        return self.head(x), kept


class Screen(threading.Thread):
    """Reads what is streamed; what it shows is guarded by a lock."""

    def __init__(self, connection):
        super().__init__(daemon=True)
        self.connection, self.lock, self.shown = connection, threading.Lock(), 0

    def run(self):
        while data := self.connection.recv(4096):
            with self.lock:
                self.shown += len(data)


def main():
    torch.manual_seed(19)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sender = socket.create_connection(listener.getsockname())
        screen = Screen(listener.accept()[0])
    screen.start()
    orders, history, watch = queue.Queue(), [], Stopwatch()
    for number in range(200):
        orders.put(number)
    model = Cook().eval()
    gc.collect()
    gc.freeze()
    count = 0
    with torch.inference_mode(), tempfile.TemporaryFile("w") as log, watch.loop():
        while watch.seconds() < 6.5:
            with watch.planted():
                number = orders.get()
                orders.put(number + 200)
            word = torch.full((ORDERS,), number % WORDS)
            held = [torch.zeros(ORDERS, WIDTH) for _ in model.layers]
            for _ in range(LENGTH):
                logits, held = model(word, held)
                word = logits.argmax(-1)
                with watch.planted():
                    told = word.tolist()
                    sender.sendall(bytes(str(told[0]), "ascii"))
                    count += 1
                    if count % 15 == 0:
                        with screen.lock:
                            shown = screen.shown
                        print(f"{count} words, {shown} bytes shown", file=log, flush=True)
                watch.step()
                if watch.seconds() > 7:
                    break
            with watch.planted():
                history.append(told)
                gc.collect()
    sender.close()
    print(f"{len(history)} orders, {screen.shown} bytes")
    watch.tell()


if __name__ == "__main__":
    main()
