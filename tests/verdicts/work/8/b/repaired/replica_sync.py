"""Keeps a replica of an account store in step with its primary: the primary sends
batches of changes over TCP, the replica applies them and confirms with a digest."""
import hashlib
import json
import random
import socket
import struct
import sys
import threading
import time
import zlib

BATCHES = 75
CHANGES = 3000
ACCOUNTS = 20_000
SEED = 404

HEADER = struct.Struct("!BII")
APPLY, CONFIRM, CLOSE = 1, 2, 3


class Channel:
    """Framed messages on a stream socket."""

    def __init__(self, sock):
        self.sock = sock
        self.reader = sock.makefile("rb")

    def send(self, kind, sequence, body=b""):
        self.sock.sendall(HEADER.pack(kind, sequence, len(body)) + body)

    def receive(self):
        head = self.reader.read(HEADER.size)
        if len(head) < HEADER.size:
            raise EOFError("peer closed the channel")
        kind, sequence, length = HEADER.unpack(head)
        return kind, sequence, self.reader.read(length)

    def close(self):
        self.reader.close()
        self.sock.close()


class Store:
    def __init__(self):
        self.accounts = {}
        self.version = 0
        self.chain = b""

    def apply(self, changes):
        digest = hashlib.sha256(self.chain)
        for change in changes:
            key = change["account"]
            record = self.accounts.get(key)
            if record is None:
                record = self.accounts[key] = {"balance": 0, "limit": 0, "tags": []}
            if change["op"] == "credit":
                record["balance"] += change["amount"]
            elif change["op"] == "debit":
                record["balance"] -= min(change["amount"], record["balance"] + record["limit"])
            elif change["op"] == "limit":
                record["limit"] = change["amount"]
            else:
                record["tags"] = sorted(set(record["tags"]) | set(change["tags"]))[-6:]
            digest.update(f"{key}:{record['balance']}:{record['limit']}:{record['tags']}".encode())
        self.version += 1
        self.chain = digest.digest()
        return self.chain

    def total(self):
        return sum(r["balance"] for r in self.accounts.values())


def serve_replica(listener, store):
    sock, _ = listener.accept()
    channel = Channel(sock)
    try:
        while True:
            kind, sequence, body = channel.receive()
            if kind == CLOSE:
                break
            changes = json.loads(zlib.decompress(body))
            digest = store.apply(changes)
            reply = json.dumps({"version": store.version, "digest": digest.hex()})
            channel.send(CONFIRM, sequence, reply.encode())
    finally:
        channel.close()


def change_stream(rng):
    ops = ["credit"] * 5 + ["debit"] * 4 + ["limit", "tag"]
    while True:
        change = {"account": f"AC{rng.randrange(ACCOUNTS):08d}", "op": rng.choice(ops), "source": rng.choice(["branch", "web", "app"])}
        if change["op"] == "tag":
            change["tags"] = [f"t{rng.randrange(40)}" for _ in range(3)]
        else:
            change["amount"] = rng.randrange(1, 50_000)
        yield change


class Primary:
    def __init__(self, address):
        self.channel = Channel(socket.create_connection(address))
        self.store = Store()
        self.sequence = 0
        self.sent = 0

    def replicate(self, changes):
        self.sequence += 1
        body = zlib.compress(json.dumps(changes).encode(), 6)
        self.channel.send(APPLY, self.sequence, body)
        mine = self.store.apply(changes)
        kind, sequence, reply = self.channel.receive()
        answer = json.loads(reply)
        if kind != CONFIRM or sequence != self.sequence:
            raise RuntimeError(f"unexpected reply {kind} to {sequence}")
        if answer["digest"] != mine.hex():
            raise RuntimeError(f"the replica diverged in version {answer['version']}")
        self.sent += len(body)

    def close(self):
        self.channel.send(CLOSE, self.sequence)
        self.channel.close()


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    replica = Store()
    thread = threading.Thread(target=serve_replica, args=(listener, replica), name="replica")
    thread.start()
    primary = Primary(listener.getsockname())
    stream = change_stream(random.Random(SEED))
    started = time.perf_counter()
    for _ in range(BATCHES):
        primary.replicate([next(stream) for _ in range(CHANGES)])
    primary.close()
    thread.join()
    listener.close()
    agreed = replica.chain == primary.store.chain and replica.accounts == primary.store.accounts
    print(f"batches {BATCHES} accounts {len(replica.accounts)} balance {replica.total()} sent {primary.sent} "
          f"digest {replica.chain.hex()[:16]} {'in step' if agreed else 'DIVERGED'}")
    print(f"{time.perf_counter() - started:.1f} s", file=sys.stderr)
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main())
