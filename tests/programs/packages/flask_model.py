"""Flask: a server in this process answers 120 requests of three clients, each by one call of a network, as PyTorch's tutorial does."""
import logging
import threading
import urllib.request

import torch
from flask import Flask, jsonify
from werkzeug.serving import make_server

logging.getLogger("werkzeug").setLevel(logging.ERROR)
app = Flask(__name__)
features = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3), torch.nn.AdaptiveAvgPool2d(4))
model = torch.nn.Sequential(features, torch.nn.Flatten(), torch.nn.Linear(256, 10)).eval()


@app.route("/predict", methods=["POST"])
def predict():
    return jsonify(int(model.forward(torch.rand(1, 3, 96, 96)).argmax()))


def ask(port):
    for _ in range(40):
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/predict", b"{}")).read()


server = make_server("127.0.0.1", 0, app, threaded=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
clients = [threading.Thread(target=ask, args=(server.server_port,)) for _ in range(3)]
for client in clients:
    client.start()
for client in clients:
    client.join()
server.shutdown()
