"""Request/response service for currency quotes over TCP, with a client that
replays an order desk's requests and checks the answers."""
import json
import math
import random
import socket
import socketserver
import struct
import threading
import zlib

HEADER = struct.Struct("!4sIII")
MAGIC = b"QSV1"
CURRENCIES = ["EUR", "USD", "GBP", "JPY", "CHF", "SEK", "NOK", "DKK", "PLN", "CZK"]
REQUESTS = 75


class ProtocolError(Exception):
    pass


class Channel:
    """Length-prefixed JSON messages with a checksum on a stream socket."""

    def __init__(self, sock):
        self.sock = sock
        self.reader = sock.makefile("rb")

    def send(self, kind, message):
        body = json.dumps(message, separators=(",", ":")).encode()
        self.sock.sendall(HEADER.pack(MAGIC, kind, len(body), zlib.crc32(body)))
        self.sock.sendall(body)

    def receive(self):
        head = self.reader.read(HEADER.size)
        if not head:
            return None
        magic, kind, length, crc = HEADER.unpack(head)
        if magic != MAGIC:
            raise ProtocolError("bad magic")
        body = self.reader.read(length)
        if len(body) != length or zlib.crc32(body) != crc:
            raise ProtocolError("damaged message")
        return kind, json.loads(body)

    def close(self):
        self.reader.close()
        self.sock.close()


class RateBook:
    """Mid rates from a random walk; the spread widens with size and tenor."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.mid = {c: 1.0 if c == "EUR" else math.exp(rng.uniform(-0.5, 3.0)) for c in CURRENCIES}
        self.yields = {c: rng.uniform(-0.005, 0.06) for c in CURRENCIES}
        self.rng = rng
        self.lock = threading.Lock()

    def tick(self):
        with self.lock:
            for c in CURRENCIES[1:]:
                self.mid[c] *= math.exp(self.rng.gauss(0, 0.0004))

    def quote(self, base, other, amount, days):
        with self.lock:
            spot = self.mid[other] / self.mid[base]
        forward = spot * math.exp((self.yields[other] - self.yields[base]) * days / 365)
        half = spot * (0.0001 + 0.00002 * math.log10(max(amount, 10)) + 0.000001 * days)
        return {"bid": round(forward - half, 6), "ask": round(forward + half, 6)}


KIND_QUOTE, KIND_STRIP, KIND_ERROR = 1, 2, 9


class QuoteHandler(socketserver.BaseRequestHandler):
    def handle(self):
        channel = Channel(self.request)
        while (message := channel.receive()) is not None:
            kind, request = message
            try:
                channel.send(kind, self.answer(kind, request))
            except (KeyError, ValueError) as error:
                channel.send(KIND_ERROR, {"error": str(error)})
        channel.close()

    def answer(self, kind, request):
        book = self.server.book
        book.tick()
        if kind == KIND_QUOTE:
            return book.quote(request["base"], request["other"], request["amount"], request["days"])
        if kind == KIND_STRIP:
            return {"strip": [book.quote(request["base"], request["other"], request["amount"], d)
                              for d in request["days"]]}
        raise ValueError(f"unknown kind {kind}")


class QuoteServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, book):
        super().__init__(("127.0.0.1", 0), QuoteHandler)
        self.book = book


class Desk:
    """Replays a day's requests and keeps the figures that the desk reports."""

    def __init__(self, address, seed):
        self.channel = Channel(socket.create_connection(address))
        self.rng = random.Random(seed)
        self.quotes = 0
        self.spread = 0.0
        self.rejected = 0
        self.notional = 0.0

    def request(self):
        base, other = self.rng.sample(CURRENCIES, 2)
        if self.rng.random() < 0.05:
            other = "XXX"
        amount = round(10 ** self.rng.uniform(3, 7), 2)
        if self.rng.random() < 0.3:
            days = list(range(7, 7 + 7 * self.rng.randint(10, 52), 7))
            return KIND_STRIP, {"base": base, "other": other, "amount": amount, "days": days}
        return KIND_QUOTE, {"base": base, "other": other, "amount": amount,
                            "days": self.rng.choice([0, 2, 30, 90, 365])}

    def run(self, n):
        for _ in range(n):
            kind, request = self.request()
            self.channel.send(kind, request)
            kind, answer = self.channel.receive()
            if kind == KIND_ERROR:
                self.rejected += 1
                continue
            for q in answer.get("strip", [answer]):
                self.quotes += 1
                self.spread += (q["ask"] - q["bid"]) / q["ask"]
            self.notional += request["amount"]
        self.channel.close()


def main():
    server = QuoteServer(RateBook(3))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    desk = Desk(server.server_address, 4)
    desk.run(REQUESTS)
    server.shutdown()
    server.server_close()
    print(f"requests {REQUESTS}, quotes {desk.quotes}, rejected {desk.rejected}")
    print(f"mean spread {1e4 * desk.spread / desk.quotes:.3f} bp, notional {desk.notional:.2f}")


if __name__ == "__main__":
    main()
