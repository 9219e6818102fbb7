"""Learns which visitors return; what is known of them comes from a web service.

Planted: between two steps the loop asks a server in another process, which needs its time.
Truth: time between the question and the end of the answer, as a share of the loop.
"""
import http.client
import http.server
import multiprocessing
import time

import torch
from torch import nn

from stopwatch import Stopwatch


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(0.004)
        body = bytes(128 * 200)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    torch.manual_seed(53)
    torch.set_num_threads(1)
    server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
    process = multiprocessing.get_context("fork").Process(target=server.serve_forever, daemon=True)
    process.start()
    model = nn.Sequential(nn.Linear(200, 800), nn.ReLU(), nn.Linear(800, 400), nn.ReLU(), nn.Linear(400, 2))
    optimizer, watch = torch.optim.SGD(model.parameters(), lr=0.01), Stopwatch()
    service = http.client.HTTPConnection("127.0.0.1", server.server_port)
    with watch.loop():
        while watch.seconds() < 5:
            with watch.planted():
                service.request("GET", f"/visitors/{len(watch.marks)}")
                body = bytearray(service.getresponse().read())
            visitors = torch.frombuffer(body, dtype=torch.uint8).view(128, 200) / 255
            loss = model(visitors).logsumexp(1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    service.close()
    process.terminate()
    process.join()
    watch.tell()


if __name__ == "__main__":
    main()
