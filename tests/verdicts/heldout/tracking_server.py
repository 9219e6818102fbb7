"""Recognises the engines of ships by their sound, with Ignite.

Planted: each second iteration a handler posts its numbers to a tracking server and waits until that has stored them.
Truth: time of the posts, of the loop.
"""
import http.client
import json
import multiprocessing
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import torch
from ignite.engine import Engine, Events
from torch import nn

from stopwatch import Stopwatch

BATCH, BANDS, SHIPS = 96, 512, 40


class Tracking(BaseHTTPRequestHandler):
    """The server of the whole laboratory, in small."""

    protocol_version = "HTTP/1.1"
    wbufsize = 65536
    disable_nagle_algorithm = True

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(0.022)  # its database commits
        answer = json.dumps({"stored": len(body["metrics"])}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def serve(port):
    server = HTTPServer(("127.0.0.1", 0), Tracking)
    port.send(server.server_port)
    server.serve_forever()


class Tracker:
    def __init__(self, port, run):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.run = run

    def log(self, step, **metrics):
        body = json.dumps({"run": self.run, "step": step, "metrics": metrics}).encode()
        self.connection.request("POST", "/api/log-batch", body, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        if answer.status != 200:
            raise ConnectionError(answer.reason)
        return json.loads(answer.read())["stored"]


def main():
    theirs, ours = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    tracker = Tracker(ours.recv(), "ships-17")

    torch.manual_seed(34)
    watch = Stopwatch()
    model = nn.Sequential(nn.Linear(BANDS, 1536), nn.ReLU(), nn.Linear(1536, 1024), nn.ReLU(), nn.Linear(1024, SHIPS))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    sounds = torch.randn(30, BATCH, BANDS)
    ships = sounds[:, :, :SHIPS].argmax(2)

    def update(engine, number):
        optimizer.zero_grad()
        scores = model(sounds[number])
        loss = nn.functional.cross_entropy(scores, ships[number])
        loss.backward()
        optimizer.step()
        return {"loss": loss.item(), "accuracy": (scores.argmax(1) == ships[number]).float().mean().item()}

    trainer = Engine(update)

    @trainer.on(Events.ITERATION_COMPLETED(every=2))
    def track(engine):
        with watch.planted():
            tracker.log(engine.state.iteration, **engine.state.output)

    @trainer.on(Events.ITERATION_COMPLETED)
    def count(engine):
        watch.step()
        if watch.seconds() > 6:
            engine.terminate()

    with watch.loop():
        trainer.run(list(range(len(sounds))), max_epochs=1000)
    server.terminate()
    server.join()
    watch.tell()


if __name__ == "__main__":
    main()
