"""Delivers chat messages to the members of a channel.

Every delivery needs the recipient's profile (device token, language, muted or not), which
a profile service holds. Workers deliver in parallel and share a cache of profiles."""
import json
import random
import socket
import socketserver
import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

USERS = 1400
CHANNELS = 60
MESSAGES = 420
WORKERS = 8
CACHE_SIZE = 500
SERVICE_DELAY = 0.0022  # what the service's own database takes


class ProfileHandler(socketserver.StreamRequestHandler):
    """One line with a user's number in, one line of JSON out."""

    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            user = int(line)
            time.sleep(SERVICE_DELAY)
            profile = {
                "id": user,
                "token": f"{user * 2654435761 % 2**32:08x}",
                "language": ("en", "de", "fr", "pl")[user % 4],
                "muted": user % 11 == 0,
            }
            self.wfile.write(json.dumps(profile).encode() + b"\n")


class ProfileServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


class ProfileClient:
    """Asks the service; each thread has its own connection."""

    def __init__(self, address):
        self._address = address
        self._local = threading.local()

    def fetch(self, user):
        stream = getattr(self._local, "stream", None)
        if stream is None:
            sock = socket.create_connection(self._address)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            stream = self._local.stream = sock.makefile("rwb")
        stream.write(b"%d\n" % user)
        stream.flush()
        return json.loads(stream.readline())


class ProfileCache:
    """The most recently used profiles, shared by all workers."""

    def __init__(self, client, size):
        self._client = client
        self._size = size
        self._lock = threading.Lock()
        self._profiles = OrderedDict()

    def get(self, user):
        with self._lock:
            profile = self._profiles.get(user)
            if profile is not None:
                self._profiles.move_to_end(user)
                return profile
        profile = self._client.fetch(user)
        with self._lock:
            self._profiles[user] = profile
            self._profiles.move_to_end(user)
            if len(self._profiles) > self._size:
                self._profiles.popitem(last=False)
        return profile


TEXTS = {
    "en": "{sender} in #{channel}: {text}",
    "de": "{sender} in #{channel} schreibt: {text}",
    "fr": "{sender} dans #{channel} : {text}",
    "pl": "{sender} na #{channel}: {text}",
}


class Delivery:
    def __init__(self, profiles):
        self.profiles = profiles
        self.sent = 0
        self.muted = 0
        self.size = 0
        self._lock = threading.Lock()

    def deliver(self, user, message):
        profile = self.profiles.get(user)
        if profile["muted"]:
            with self._lock:
                self.muted += 1
            return
        body = TEXTS[profile["language"]].format(**message)
        packet = json.dumps({"to": profile["token"], "alert": body, "badge": 1}).encode()
        with self._lock:
            self.sent += 1
            self.size += len(packet)


def make_channels(rng):
    return [rng.sample(range(USERS), rng.randint(6, 14)) for _ in range(CHANNELS * 4)]


def make_messages(rng, channels):
    words = "ship build the is green again who can look at this ticket today thanks done".split()
    for number in range(MESSAGES):
        channel = rng.randrange(len(channels))
        members = channels[channel]
        yield members, {
            "sender": f"user{members[number % len(members)]}",
            "channel": f"team-{channel}",
            "text": " ".join(rng.choices(words, k=rng.randint(4, 18))),
        }


def main():
    rng = random.Random(5)
    channels = make_channels(rng)
    with ProfileServer(("127.0.0.1", 0), ProfileHandler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        delivery = Delivery(ProfileCache(ProfileClient(server.server_address), CACHE_SIZE))
        with ThreadPoolExecutor(WORKERS) as pool:
            for members, message in make_messages(rng, channels):
                for future in [pool.submit(delivery.deliver, user, message) for user in members]:
                    future.result()
        server.shutdown()
    print(f"messages {MESSAGES}, notifications sent {delivery.sent}, muted {delivery.muted}")
    print(f"bytes {delivery.size}, profiles kept {len(delivery.profiles._profiles)}")


if __name__ == "__main__":
    main()
