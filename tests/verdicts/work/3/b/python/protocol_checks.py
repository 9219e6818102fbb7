"""Conformance checks for a line-based quote protocol: every case gets its
own server instance, a scripted client and a verdict."""
import hashlib
import json
import random
import socket
import socketserver
import threading
import zlib

SYMBOLS = ("AAX", "BEQ", "CIR", "DOL", "ELM")


class QuoteBook:
    def __init__(self, seed):
        rng = random.Random(seed)
        self.levels = {s: [(rng.uniform(10, 90), rng.randrange(1, 500)) for _ in range(400)] for s in SYMBOLS}

    def depth(self, symbol, size):
        taken, cost = 0, 0.0
        for price, quantity in sorted(self.levels[symbol]):
            part = min(quantity, size - taken)
            taken += part
            cost += part * price
            if taken == size:
                break
        return {"symbol": symbol, "filled": taken, "cost": round(cost, 4)}


class QuoteHandler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for raw in self.rfile:
            verb, *args = raw.decode().split()
            if verb == "QUIT":
                break
            self.wfile.write((self.answer(verb, args) + "\n").encode())

    def answer(self, verb, args):
        if verb == "DEPTH" and len(args) == 2 and args[0] in SYMBOLS:
            return json.dumps(self.server.book.depth(args[0], int(args[1])))
        if verb == "SYMBOLS":
            return json.dumps(SYMBOLS)
        return json.dumps({"error": "bad request"})


class QuoteServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


class running_server:
    """Context manager: a live server on a free port."""

    def __init__(self, book):
        self.server = QuoteServer(("127.0.0.1", 0), QuoteHandler)
        self.server.book = book
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self.server.server_address

    def __exit__(self, *exc):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def script_for(case):
    rng = random.Random(case)
    lines = ["SYMBOLS"]
    for _ in range(60):
        lines.append(f"DEPTH {rng.choice(SYMBOLS)} {rng.randrange(1, 60_000)}")
    lines.insert(rng.randrange(len(lines)), f"DEPTH {rng.choice(('ZZZ', ''))}")
    return lines


def converse(address, lines):
    with socket.create_connection(address) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        f = s.makefile("rw")
        answers = []
        for line in lines:
            f.write(line + "\n")
            f.flush()
            answers.append(json.loads(f.readline()))
        f.write("QUIT\n")
        f.flush()
    return answers


def verdict(case, book, lines, answers):
    wrong = 0
    for line, got in zip(lines, answers):
        verb, *args = line.split()
        if verb == "DEPTH" and len(args) == 2:
            wrong += got != book.depth(args[0], int(args[1]))
        elif verb == "DEPTH":
            wrong += "error" not in got
    return wrong, zlib.crc32(json.dumps(answers).encode())


def main():
    digest, failures = hashlib.sha1(), 0
    for case in range(11):
        book = QuoteBook(case)
        lines = script_for(case)
        with running_server(book) as address:
            answers = converse(address, lines)
        wrong, crc = verdict(case, book, lines, answers)
        failures += wrong
        digest.update(f"{case}:{crc};".encode())
    print(f"cases {case + 1} failures {failures} digest {digest.hexdigest()[:16]}")


if __name__ == "__main__":
    main()
