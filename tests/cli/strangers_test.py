#!/usr/bin/env python3
"""What another user of the machine plants in a shared folder, in the environment, or at a port.

usage: strangers_test.py DWELL MKTRACE PRIVILEGED [PART-OF-A-NAME...]

PRIVILEGED is a program with the recorder linked into it. The last line is "N passed, N failed, N skipped".
"""
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest

DWELL, MKTRACE, PRIVILEGED = (os.path.abspath(path) for path in sys.argv[1:4])
TRACE = """
head host=node7 run=9 real=1800000000s
process 1 pid=4711 name=/srv/train command="./train"
thread 1 process=1 tid=4711 name=train
stream 1 thread=1
at 10ms step-begin
+5ms step-end
"""
LIMIT = 60  # seconds, of what takes milliseconds


def dwell(*arguments):
    """The exit status and what was printed. A command that waits for a stranger is a failure."""
    done = subprocess.run([DWELL, *arguments], capture_output=True, text=True, check=False, timeout=LIMIT, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


class Strangers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="dwell-strangers-")
        os.chdir(self.folder.name)
        subprocess.run([MKTRACE, "-", "a.dwell"], input=TRACE, text=True, check=True)

    def tearDown(self):
        os.chdir("/")
        self.folder.cleanup()

    def test_fifos(self):
        """A FIFO without a writer keeps no command from its end."""
        os.mkfifo("fifo.dwell")
        os.mkfifo("fifo.dwell.sum")
        for words in (["report", "fifo.dwell"], ["info", "fifo.dwell"], ["export", "--format", "folded", "fifo.dwell"],
                      ["query", "fifo.dwell", "select 1"], ["pack", "fifo.dwell"], ["diff", "fifo.dwell", "a.dwell"],
                      ["ranks", "fifo.dwell.sum"], ["summarize", "fifo.dwell", "-o", "x.sum"], ["watch", "--once", "."],
                      ["capture", "."], ["top", "fifo.dwell"], ["serve", "fifo.dwell"], ["view", "--no-browser", "fifo.dwell"]):
            status, printed = dwell(*words)
            self.assertNotIn(status, (0, -11), (words, printed))
            self.assertIn("fifo.dwell", printed, words)

    def test_names_that_steer_a_terminal(self):
        """What a trace contains reaches the terminal without control characters."""
        steers = "\x1b]0;x\x07"
        subprocess.run([MKTRACE, "-", "b.dwell"], text=True, check=True, input=TRACE.replace("node7", f'"node{steers}"').replace(
            "/srv", f'"/srv{steers}"') + f'at 11ms begin operator "a{steers}"\n+1ms end\n')
        self.assertEqual(dwell("summarize", "b.dwell", "-o", "b.dwell.sum")[0], 0)
        for words in (["report", "b.dwell"], ["report", "--view", "operators", "b.dwell"], ["info", "b.dwell"],
                      ["query", "b.dwell", "select * from ranges"], ["ranks", "b.dwell.sum", "b.dwell.sum"], ["watch", "--once", "."],
                      ["capture", ".", "--duration", "1ms"]):
            self.assertNotIn("\x1b]", dwell(*words)[1], words)

    def test_a_slow_client_of_watch(self):
        """One that sends a byte now and then does not keep the watch from its job."""
        self.assertEqual(dwell("summarize", "a.dwell", "-o", "a.sum")[0], 0)
        watch = subprocess.Popen([DWELL, "watch", "--every", "1s", "--metrics", "figures", "--port", "0", "."],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            port = int(watch.stderr.readline().split("127.0.0.1:")[1].split("/")[0])
            with socket.create_connection(("127.0.0.1", port)) as client:
                written, began = set(), time.monotonic()
                while len(written) < 4 and time.monotonic() < began + LIMIT:
                    try:
                        client.send(b"G")
                    except OSError:
                        client.close()
                        client = socket.create_connection(("127.0.0.1", port))
                    time.sleep(0.5)
                    if os.path.exists("figures"):
                        written.add(os.stat("figures").st_mtime_ns)
                client.close()
            self.assertEqual(len(written), 4)
        finally:
            watch.kill()
            watch.communicate()

    def test_a_web_site_that_asks_watch(self):
        """A name that points to this machine gets no figures through a browser."""
        self.assertEqual(dwell("summarize", "a.dwell", "-o", "a.sum")[0], 0)
        watch = subprocess.Popen([DWELL, "watch", "--port", "0", "."], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            port = int(watch.stderr.readline().split("127.0.0.1:")[1].split("/")[0])
            here = f"Host: localhost:{port}"
            for headers, good in (([here], True), ([f"HOST:127.0.0.1:{port}  "], True), (["Accept: */*", here], True), ([], False),
                                  ([f"Host: evil.example:{port}"], False), (["Host: localhost"], False), ([here, here], False),
                                  ([f"Host: localhost:{port}.evil.example"], False), ([f"X: {here}"], False),
                                  ([f"Host: localhost:{port + 1}"], False)):
                with socket.create_connection(("127.0.0.1", port), LIMIT) as client:
                    client.sendall("\r\n".join(["GET /metrics HTTP/1.1", *headers, "", ""]).encode())
                    answer = client.makefile("rb").read().decode()
                self.assertEqual(answer.startswith("HTTP/1.1 200"), good, (headers, answer[:200]))
                self.assertEqual("dwell_" in answer, good, (headers, answer[:200]))
        finally:
            watch.kill()
            watch.communicate()

    @unittest.skipUnless(os.getuid() == 0, "only root can become another user")
    def test_another_users_trace(self):
        """Whatever the umask is, a trace and its control page are for their owner alone."""
        os.chmod(".", 0o755)
        self.assertEqual(subprocess.run([DWELL, "run", "-o", "mine.dwell", PRIVILEGED], check=False, umask=0, capture_output=True,
                                        timeout=LIMIT).returncode, 0)
        self.assertEqual(os.stat("mine.dwell").st_mode & 0o777, 0o600)
        with open(DWELL, "rb") as file, open("dwell", "wb") as copy:  # the build may be in a folder of this user
            shutil.copyfileobj(file, copy)
        os.chmod("dwell", 0o755)
        for word in ("report", "serve", "top"):
            done = subprocess.run(["setpriv", "--reuid", "12345", "--clear-groups", "./dwell", word, "mine.dwell"],
                                  capture_output=True, text=True, check=False, timeout=LIMIT)
            self.assertIn("Permission denied", done.stderr)

    @unittest.skipUnless(os.getuid() == 0, "only root can give a program to another user")
    def test_set_user_id(self):
        """A set-user-ID program with the recorder takes no file's name from the environment of who starts it."""
        shutil.copy(PRIVILEGED, "program")
        os.chmod(".", 0o777)
        words = ["setpriv", "--reuid", "12345", "--clear-groups", "./program"]
        environment = {**os.environ, "DWELL_TRACE": os.path.abspath("made.dwell"), "DWELL_RUN": "01" * 16}
        before = set(os.listdir("."))
        subprocess.run(words, env=environment, check=True, timeout=LIMIT)
        self.assertNotEqual(set(os.listdir(".")), before)  # an ordinary program records
        os.chmod("program", 0o755 | stat.S_ISUID)
        before = set(os.listdir("."))
        subprocess.run(words, env=environment, check=True, timeout=LIMIT)
        self.assertEqual(set(os.listdir(".")), before)


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0], *(word for name in sys.argv[4:] for word in ("-k", name))], exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0)
