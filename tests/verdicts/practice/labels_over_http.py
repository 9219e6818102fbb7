"""Learns from weak labels that another program gives for each batch, over HTTP.

Planted: the service of labels takes 9 ms for each request, and the loop waits.
Truth: time of the requests, as a share of the loop.
"""
import http.client
import http.server
import json
import multiprocessing
import time

import torch
from torch import nn

from stopwatch import Stopwatch


class Labels(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(0.009)  # its own model
        answer = json.dumps([int(value > 0) for value in asked]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_unused):
        pass


def serve(ports):
    server = http.server.HTTPServer(("127.0.0.1", 0), Labels)
    ports.put(server.server_port)
    server.serve_forever()


def main():
    ports = multiprocessing.Queue()
    service = multiprocessing.Process(target=serve, args=(ports,), daemon=True)
    service.start()
    connection = http.client.HTTPConnection("127.0.0.1", ports.get())
    torch.manual_seed(50)
    model = nn.Sequential(nn.Linear(256, 640), nn.ReLU(), nn.Linear(640, 640), nn.ReLU(), nn.Linear(640, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch = Stopwatch()
    with watch.loop():
        while watch.seconds() < 3:
            rows = torch.randn(512, 256)
            with watch.planted():
                connection.request("POST", "/labels", json.dumps(rows[:, 0].tolist()))
                labels = torch.tensor(json.loads(connection.getresponse().read()))
            loss = nn.functional.cross_entropy(model(rows), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    service.terminate()
    service.join()
    print(f"loss {loss.item():.3f}")
    watch.tell()


if __name__ == "__main__":
    main()
