"""An API gateway in small: tenants send requests over a local socket, the
gateway matches each tenant's route pattern, checks its quota and answers."""
import hashlib
import json
import random
import re
import socket
import struct
import threading
from collections import Counter

TENANTS = 640
REQUESTS = 56000
PIPELINE = 20
VERBS = ("GET", "PUT", "POST", "DELETE")
COLLECTIONS = ("orders", "invoices", "devices", "users", "reports")


class Tenant:
    def __init__(self, number):
        self.name = f"t{number:04d}-{hashlib.sha1(str(number).encode()).hexdigest()[:6]}"
        self.version = number % 4 + 1
        self.allowed = COLLECTIONS[: 2 + number % 4]
        self.quota = 50 + number % 100
        self.used = 0
        self.pattern = re.compile(self.route())

    def route(self):
        """/t0001-ab12cd/v2/orders/123?page=4 and the like."""
        return (
            rf"^/(?P<tenant>{re.escape(self.name)})/v{self.version}"
            rf"/(?P<collection>{'|'.join(self.allowed)})"
            r"(?:/(?P<id>[0-9]{1,9}))?(?:\?(?P<query>[a-z]+=[^&]*(?:&[a-z]+=[^&]*)*))?$"
        )


class Gateway:
    def __init__(self, tenants, secret):
        self.tenants = {tenant.name: tenant for tenant in tenants}
        self.secret = secret
        self.counts = Counter()

    def signature(self, body):
        """Iterated so that a leaked log does not give the secret away."""
        digest = self.secret
        for _ in range(60):
            digest = hashlib.sha256(digest + body).digest()
        return digest.hex()[:32]

    def match(self, tenant, path):
        return tenant.pattern.match(path)

    def handle(self, request):
        path = request["path"]
        tenant = self.tenants.get(path.split("/", 2)[1])
        if tenant is None:
            return self.answer(404, "unknown tenant")
        found = self.match(tenant, path)
        if not found:
            return self.answer(404, "no route")
        if request["signature"] != self.signature(path.encode()):
            return self.answer(403, "signature")
        tenant.used += 1
        if tenant.used > tenant.quota:
            return self.answer(429, "quota")
        query = dict(pair.split("=", 1) for pair in (found["query"] or "").split("&") if pair)
        return self.answer(200, {"collection": found["collection"], "id": found["id"], "query": query})

    def answer(self, status, detail):
        self.counts[status] += 1
        return {"status": status, "detail": detail}


def send(sock, messages):
    body = json.dumps(messages).encode()
    sock.sendall(struct.pack("!I", len(body)) + body)


def receive(stream):
    head = stream.read(4)
    if len(head) < 4:
        return None
    return json.loads(stream.read(struct.unpack("!I", head)[0]))


def serve(listener, gateway):
    connection, _ = listener.accept()
    with connection, connection.makefile("rb") as stream:
        while (requests := receive(stream)) is not None:
            send(connection, [gateway.handle(request) for request in requests])


def make_path(tenant, rng):
    collection = rng.choice(COLLECTIONS)
    path = f"/{tenant.name}/v{tenant.version}/{collection}"
    if rng.random() < 0.6:
        path += f"/{rng.randrange(10**6)}"
    if rng.random() < 0.4:
        path += f"?page={rng.randrange(40)}&sort={rng.choice('abc')}"
    return path


def client(address, tenants, signer, rng):
    """Sends groups of requests on one connection and tallies the answers."""
    ids = statuses = 0
    with socket.create_connection(address) as sock, sock.makefile("rb") as stream:
        for _ in range(REQUESTS // PIPELINE):
            group = []
            for _ in range(PIPELINE):
                path = make_path(rng.choice(tenants), rng)
                signature = signer.signature(path.encode()) if rng.random() < 0.97 else "0" * 32
                group.append({"verb": rng.choice(VERBS), "path": path, "signature": signature})
            send(sock, group)
            for answer in receive(stream):
                statuses += answer["status"]
                if answer["status"] == 200 and answer["detail"]["id"]:
                    ids += int(answer["detail"]["id"])
    return ids, statuses


def main():
    rng = random.Random(404)
    tenants = [Tenant(number) for number in range(TENANTS)]
    gateway = Gateway(tenants, secret=b"k" * 32)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=serve, args=(listener, gateway))
        server.start()
        ids, statuses = client(listener.getsockname(), tenants, gateway, rng)
        server.join()
    print("answers " + ", ".join(f"{status}: {count}" for status, count in sorted(gateway.counts.items())))
    print(f"sum of ids {ids}, sum of statuses {statuses}")


if __name__ == "__main__":
    main()
