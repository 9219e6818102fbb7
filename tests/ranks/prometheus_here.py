"""A Prometheus of Debian on this machine that reads what dwell watch serves, for tests and bench/watch_hour.py."""
import json
import os
import shutil
import subprocess
import time
import urllib.request


def missing():
    """Why there can be no Prometheus here, or None."""
    return None if shutil.which("prometheus") else "Prometheus is not installed: Debian's package prometheus"


def get(address):
    """What the address answers, or ""."""
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return answer.read().decode()
    except OSError:
        return ""


class Prometheus:
    """Reads each port of `jobs` ({name: port}) every so many seconds, and keeps its files in the folder. `address`: where it
    listens, or None if it did not start within a minute."""

    def __init__(self, folder, jobs, seconds, rules=()):
        configuration, log = (os.path.join(folder, name) for name in ("prometheus.yml", "prometheus.log"))
        with open(configuration, "w", encoding="utf-8") as file:
            json.dump({"global": {"scrape_interval": f"{seconds}s", "evaluation_interval": f"{seconds}s"}, "rule_files": list(rules),
                       "scrape_configs": [{"job_name": name, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
                                          for name, port in jobs.items()]}, file)
        with open(log, "w", encoding="utf-8") as file:
            self.process = subprocess.Popen(["prometheus", "--config.file=" + configuration, "--storage.tsdb.path=" + os.path.join(folder, "tsdb"),
                                             "--web.listen-address=127.0.0.1:0", "--log.format=json"], stderr=file)
        until = time.monotonic() + 60
        self.address = None
        while not self.address and time.monotonic() < until and self.process.poll() is None:
            time.sleep(.1)
            self.address = self.listens(log)

    @staticmethod
    def listens(log):
        with open(log, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.endswith("\n")]
        return next(("http://" + line["address"] for line in lines if line.get("msg") == "Listening on"), None)

    def count(self, query):
        """How many time series answer a query now."""
        answer = get(f"{self.address}/api/v1/query?query={urllib.request.quote(query)}")
        return len(json.loads(answer)["data"]["result"]) if answer else 0

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()
