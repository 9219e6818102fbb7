"""Market quote gateway: publishers send line-delimited JSON over TCP.

The gateway keeps the last quote and a one-minute bar for each instrument.  This
file also holds the load test that operations runs before a release: a few
publishers replay a session against a gateway on the loopback interface.
"""
import hashlib
import json
import random
import socket
import threading
from dataclasses import dataclass, field

INSTRUMENTS = [f"{a}{b}{c}" for a in "ABCD" for b in "KLMN" for c in "XYZ"]


@dataclass
class Bar:
    minute: int
    open: float
    high: float
    low: float
    close: float
    volume: int = 0

    def add(self, price, size):
        self.high = max(self.high, price)
        self.low = min(self.low, price)
        self.close = price
        self.volume += size


@dataclass
class Book:
    last: dict = field(default_factory=dict)
    bars: dict = field(default_factory=dict)
    quotes: int = 0

    def apply(self, quote):
        symbol, price = quote["symbol"], quote["price"]
        minute = quote["ms"] // 60000
        self.last[symbol] = quote
        key = symbol, minute
        bar = self.bars.get(key)
        if bar is None:
            self.bars[key] = bar = Bar(minute, price, price, price, price)
        bar.add(price, quote["size"])
        self.quotes += 1


class LineReader:
    """Reads newline-terminated messages from a socket."""

    def __init__(self, sock):
        self.sock = sock

    def __iter__(self):
        with self.sock.makefile("rb", buffering=65536) as stream:
            for line in stream:
                yield line.rstrip(b"\n")


class Session(threading.Thread):
    """One publisher connection; the books are merged when the session ends."""

    def __init__(self, gateway, sock):
        super().__init__(daemon=True)
        self.gateway, self.sock = gateway, sock
        self.book = Book()
        self.publisher = None

    def run(self):
        with self.sock:
            for line in LineReader(self.sock):
                message = json.loads(line)
                kind = message.pop("type")
                if kind == "hello":
                    self.publisher = message["publisher"]
                elif kind == "quote":
                    self.book.apply(message)
                elif kind == "bye":
                    reply = json.dumps({"type": "ack", "quotes": self.book.quotes})
                    self.sock.sendall(reply.encode() + b"\n")
                    break


class Gateway:
    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.sessions = []

    @property
    def address(self):
        return self.listener.getsockname()

    def serve(self, publishers):
        for _ in range(publishers):
            sock, _ = self.listener.accept()
            session = Session(self, sock)
            session.start()
            self.sessions.append(session)
        for session in self.sessions:
            session.join()
        self.listener.close()


def replay(address, publisher, quotes):
    """Sends a random walk of quotes and waits for the acknowledgement."""
    rng = random.Random(publisher)
    mine = INSTRUMENTS[publisher::4]
    price = {s: rng.uniform(20, 200) for s in mine}
    encode = json.JSONEncoder(separators=(",", ":")).encode
    with socket.create_connection(address) as sock:
        out = [encode({"type": "hello", "publisher": publisher})]
        for i in range(quotes):
            symbol = rng.choice(mine)
            price[symbol] = round(price[symbol] * (1 + rng.gauss(0, 2e-4)), 4)
            out.append(encode({"type": "quote", "symbol": symbol, "price": price[symbol],
                               "size": rng.randrange(1, 500), "ms": i * 25,
                               "venue": "XETR", "seq": i}))
            if len(out) == 200:
                sock.sendall(("\n".join(out) + "\n").encode())
                out.clear()
        out.append(encode({"type": "bye"}))
        sock.sendall(("\n".join(out) + "\n").encode())
        with sock.makefile("r") as answers:
            ack = json.loads(answers.readline())
    if ack["quotes"] != quotes:
        raise RuntimeError(f"publisher {publisher}: {ack['quotes']} of {quotes} quotes arrived")


def main():
    publishers, quotes = 4, 14000
    gateway = Gateway()
    clients = [threading.Thread(target=replay, args=(gateway.address, p, quotes))
               for p in range(publishers)]
    for client in clients:
        client.start()
    gateway.serve(publishers)
    for client in clients:
        client.join()

    digest = hashlib.sha256()
    bars = volume = 0
    for session in sorted(gateway.sessions, key=lambda s: s.publisher):
        for (symbol, minute), bar in sorted(session.book.bars.items()):
            digest.update(f"{symbol} {minute} {bar.open} {bar.high} {bar.low} {bar.close}".encode())
            volume += bar.volume
            bars += 1
    print(f"quotes {sum(s.book.quotes for s in gateway.sessions)}  bars {bars}  volume {volume}")
    print("digest", digest.hexdigest()[:16])


if __name__ == "__main__":
    main()
