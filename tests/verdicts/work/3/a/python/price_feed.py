"""Price lookup service over TCP with a small framed protocol, and the desk
client that revalues a book of positions through it."""
import json
import random
import socket
import struct
import threading
import zlib

HEADER = struct.Struct("!IIB")
QUOTE, CURVE, BYE = 1, 2, 3


def read_exactly(sock, count):
    parts = []
    while count:
        part = sock.recv(count)
        if not part:
            raise ConnectionError("peer closed")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def send_frame(sock, kind, body):
    sock.sendall(HEADER.pack(len(body), zlib.crc32(body), kind))
    sock.sendall(body)


def read_frame(sock):
    length, crc, kind = HEADER.unpack(read_exactly(sock, HEADER.size))
    body = read_exactly(sock, length)
    if zlib.crc32(body) != crc:
        raise ValueError("corrupt frame")
    return kind, body


class Market:
    def __init__(self, symbols, seed):
        rng = random.Random(seed)
        self.prices = {s: round(rng.uniform(5, 500), 2) for s in symbols}
        self.vols = {s: rng.uniform(0.1, 0.6) for s in symbols}

    def quote(self, symbol):
        return {"symbol": symbol, "price": self.prices[symbol], "vol": round(self.vols[symbol], 4)}

    def curve(self, symbol, tenors):
        """Forward prices from a fine simulation grid of the carry rate."""
        price, points = self.prices[symbol], []
        for tenor in tenors:
            rate, value = 0.03, price
            for day in range(tenor * 21):
                rate += 0.0001 * ((day * 7919 + tenor) % 13 - 6)
                value *= 1 + rate / 252
            points.append([tenor, round(value, 4)])
        return {"symbol": symbol, "points": points}


class Server(threading.Thread):
    def __init__(self, market):
        super().__init__(daemon=True)
        self.market = market
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        self.served = 0

    def run(self):
        conn, _ = self.listener.accept()
        with conn:
            while self.answer(conn):
                self.served += 1
        self.listener.close()

    def answer(self, conn):
        kind, body = read_frame(conn)
        if kind == BYE:
            return False
        request = json.loads(body)
        if kind == QUOTE:
            reply = self.market.quote(request["symbol"])
        else:
            reply = self.market.curve(request["symbol"], request["tenors"])
        send_frame(conn, kind, json.dumps(reply).encode())
        return True


class Client:
    def __init__(self, address):
        self.sock = socket.create_connection(address)

    def ask(self, kind, **request):
        send_frame(self.sock, kind, json.dumps(request).encode())
        answer_kind, body = read_frame(self.sock)
        assert answer_kind == kind
        return json.loads(body)

    def close(self):
        send_frame(self.sock, BYE, b"{}")
        self.sock.close()


def make_book(symbols, count, seed):
    rng = random.Random(seed)
    return [{"symbol": rng.choice(symbols), "lots": rng.randint(-40, 40), "tenor": rng.choice([3, 6, 12, 24])}
            for _ in range(count)]


def revalue(client, book):
    total, exposure = 0.0, 0.0
    for position in book:
        quote = client.ask(QUOTE, symbol=position["symbol"])
        total += position["lots"] * quote["price"]
        exposure += abs(position["lots"]) * quote["price"] * quote["vol"]
        if abs(position["lots"]) > 30:
            curve = client.ask(CURVE, symbol=position["symbol"], tenors=list(range(1, position["tenor"] * 8)))
            total += position["lots"] * (curve["points"][-1][1] - quote["price"])
    return total, exposure


def main():
    symbols = [f"SYM{i:03d}" for i in range(120)]
    server = Server(Market(symbols, seed=31))
    server.start()
    client = Client(server.address)
    total, exposure = revalue(client, make_book(symbols, 44, seed=32))
    client.close()
    server.join()
    print(f"served {server.served} value {total:.2f} exposure {exposure:.2f}")


if __name__ == "__main__":
    main()
