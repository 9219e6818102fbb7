"""Number portability gateway: front ends ask a routing server which operator
serves a subscriber number.  Length-prefixed binary protocol over TCP; the
server keeps the ported-number table in memory and signs its answers."""
import hashlib
import hmac
import random
import socket
import struct
import threading
import time

HEADER = struct.Struct("!IHH")          # body length, message type, sequence
QUERY, ANSWER, BYE = 1, 2, 3
KEY = b"gateway-shared-secret"
OPERATORS = ["alpha", "bravo", "carrier-c", "delta", "echo-tel"]
CLIENTS = 2
QUERIES_PER_CLIENT = 75
NUMBERS_PER_QUERY = 40


def build_table(count: int, seed: int) -> dict[int, str]:
    rng = random.Random(seed)
    return {491500000000 + rng.randrange(10_000_000): OPERATORS[rng.randrange(5)]
            for _ in range(count)}


class Channel:
    """One framed connection."""

    def __init__(self, sock: socket.socket):
        self.sock = sock
        self.reader = sock.makefile("rb")
        self.sent = self.received = 0

    def send(self, kind: int, seq: int, body: bytes) -> None:
        self.sock.sendall(HEADER.pack(len(body), kind, seq))
        if body:
            self.sock.sendall(body)
        self.sent += HEADER.size + len(body)

    def recv(self) -> tuple[int, int, bytes]:
        head = self.reader.read(HEADER.size)
        if len(head) < HEADER.size:
            raise ConnectionError("peer closed")
        size, kind, seq = HEADER.unpack(head)
        body = self.reader.read(size)
        self.received += HEADER.size + size
        return kind, seq, body

    def close(self) -> None:
        self.reader.close()
        self.sock.close()


class RoutingServer:
    def __init__(self, table: dict[int, str]):
        self.table = table
        self.prefix_default = {n // 1_000_000: OPERATORS[n // 1_000_000 % 5]
                               for n in range(491500000000, 491510000000, 1_000_000)}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        self.threads: list[threading.Thread] = []

    def serve(self, connections: int) -> None:
        for _ in range(connections):
            sock, _ = self.listener.accept()
            t = threading.Thread(target=self.handle, args=(Channel(sock),))
            t.start()
            self.threads.append(t)
        for t in self.threads:
            t.join()
        self.listener.close()

    def route(self, number: int) -> str:
        return self.table.get(number) or self.prefix_default[number // 1_000_000]

    def handle(self, ch: Channel) -> None:
        while True:
            kind, seq, body = ch.recv()
            if kind == BYE:
                break
            numbers = struct.unpack(f"!{len(body) // 8}Q", body)
            answer = ";".join(self.route(n) for n in numbers).encode()
            mac = hmac.new(KEY, struct.pack("!H", seq) + answer, hashlib.sha256).digest()
            ch.send(ANSWER, seq, mac + answer)
        ch.close()


class FrontEnd(threading.Thread):
    def __init__(self, address, seed: int):
        super().__init__()
        self.address, self.rng = address, random.Random(seed)
        self.counts = dict.fromkeys(OPERATORS, 0)
        self.worst = 0.0
        self.bytes = 0

    def run(self) -> None:
        ch = Channel(socket.create_connection(self.address))
        for seq in range(QUERIES_PER_CLIENT):
            numbers = [491500000000 + self.rng.randrange(10_000_000)
                       for _ in range(NUMBERS_PER_QUERY)]
            began = time.perf_counter()
            ch.send(QUERY, seq, struct.pack(f"!{len(numbers)}Q", *numbers))
            kind, got, body = ch.recv()
            self.worst = max(self.worst, time.perf_counter() - began)
            if kind != ANSWER or got != seq:
                raise RuntimeError("unexpected reply")
            mac, answer = body[:32], body[32:]
            want = hmac.new(KEY, struct.pack("!H", seq) + answer, hashlib.sha256).digest()
            if not hmac.compare_digest(mac, want):
                raise RuntimeError("bad signature")
            for op in answer.decode().split(";"):
                self.counts[op] += 1
        ch.send(BYE, 0, b"")
        self.bytes = ch.sent + ch.received
        ch.close()


def main() -> None:
    server = RoutingServer(build_table(600_000, seed=11))
    acceptor = threading.Thread(target=server.serve, args=(CLIENTS,))
    acceptor.start()
    clients = [FrontEnd(server.address, seed=100 + i) for i in range(CLIENTS)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    acceptor.join()
    total = {op: sum(c.counts[op] for c in clients) for op in OPERATORS}
    print(f"{CLIENTS * QUERIES_PER_CLIENT} queries, {sum(c.bytes for c in clients)} bytes")
    print("routes", " ".join(f"{op}={n}" for op, n in total.items()))


if __name__ == "__main__":
    main()
