"""`dwell view` over bare sockets: usage: server_test.py DWELL MKTRACE PROGRAM [NAME...]

Who is answered and who is refused; spans, sums, one event and search against a trace whose events
are known; a merged index against the whole one; a trace that is deleted, one that is cut, one that
is still written. PROGRAM is tests/serve/program.c.
"""
import base64
import contextlib
import hashlib
import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

DWELL, MKTRACE, PROGRAM = (os.path.abspath(path) for path in sys.argv[1:4])
LIMIT = 60  # seconds, of whatever is waited for
failures = passes = 0

TRACE = """
head host=node7 run=9 real=1800000000s
process 1 pid=4711 name=/srv/train command="./train"
thread 1 process=1 tid=4711 name=train
thread 2 process=1 tid=4712 name=other
stream 1 thread=1
at 10ms step-begin
+0 begin phase forward
+1ms begin operator conv shapes=2x3:float32
+0 args "{\\"level\\":3}"
+0 flow-out work 7
+1ms end
+2ms end
+0 begin phase "<b>\\u202e</script>"
+4ms end
+2ms step-end
at 30ms begin zone a
+2ms begin zone b
+2ms begin zone c
+2ms end-of 2
+2ms end
+2ms end
+5ms mark here
+5ms begin zone open
stream 2 thread=2
at 12ms begin zone receiver
+1ms flow-in work 7
+3ms end
"""


def check(what, holds, *seen):
    global failures, passes
    print("ok  " if holds else "FAIL", what, *(seen if not holds else ()), flush=True)
    failures += not holds
    passes += bool(holds)


def wait_for(condition):
    until = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


class View:
    """A server with one client that has its cookie."""
    all = []

    def __init__(self, trace, **environment):
        self.process = subprocess.Popen([DWELL, "view", "--no-browser", trace], stderr=subprocess.PIPE, text=True,
                                        env=dict(os.environ, **environment))
        self.all.append(self)
        line = self.process.stderr.readline()
        match = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", line)
        if not match:
            raise RuntimeError("no address: " + line)
        self.port, self.token = int(match.group(1)), match.group(2)
        self.cookie = self.sign_in()

    def sign_in(self):
        status, headers, _ = self.ask(f"/?token={self.token}")
        assert status == 303 and headers["Location"] == "/", (status, headers)
        return headers["Set-Cookie"].split(";")[0]

    def ask(self, path, method="GET", body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        sent = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        connection.request(method, path, body=body, headers=sent)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.headers, content

    def status(self, path="/api/live", **headers):
        return self.ask(path, **{"Cookie": self.cookie, **headers})[0]

    def get(self, path):
        status, _, content = self.ask("/api/" + path, Cookie=self.cookie)
        assert status == 200, (path, status, content)
        return json.loads(content)

    def complete(self):
        assert wait_for(lambda: self.get("live")["complete"])
        return self

    def events(self, begin, end, pixels=8192, **more):
        """The events of a span: (track, row, begin, end, name, count), as numbers."""
        query = "".join(f"&{name}={value}" for name, value in more.items())
        span, events = self.get(f"span?begin={begin}&end={end}&pixels={pixels}{query}"), []
        for track in span["tracks"]:
            i = 0
            for row, count in enumerate(track["rows"]):
                at = span["begin_ns"]
                for _ in range(count):
                    start = at + track["begin"][i]
                    at = start + track["duration"][i]
                    events.append((track["track"], row, start, at, track["name"][i], track.get("count", {i: 1})[i] if "count" in track else 1))
                    i += 1
        return events

    def raw(self, request):
        """What is answered to these bytes, until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT) as client:
            client.sendall(request)
            with contextlib.suppress(OSError): # it may have closed the connection already
                client.shutdown(socket.SHUT_WR)
            answer = b""
            while part := client.recv(1 << 16):
                answer += part
        return answer

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(LIMIT)
        self.process.stderr.close()
        return status


def make(folder, text, name="a.dwell"):
    path = os.path.join(folder, name)
    subprocess.run([MKTRACE, "-", path], input=text, text=True, check=True)
    return path


def test_who_is_answered(folder):
    view = View(make(folder, TRACE))
    here = f"127.0.0.1:{view.port}"
    status, headers, _ = view.ask(f"/?token={view.token}")
    check("the token becomes a cookie that scripts and other sites do not get",
          "HttpOnly" in headers["Set-Cookie"] and "SameSite=Strict" in headers["Set-Cookie"] and view.token not in headers["Set-Cookie"])
    check("a second browser can sign in", view.sign_in() and view.status() == 200)
    status, headers, page = view.ask("/", Cookie=view.cookie)
    check("the page has a strict policy", status == 200 and "default-src 'none'" in headers["Content-Security-Policy"] and
          "unsafe" not in headers["Content-Security-Policy"] and b"<script" in page and b"token" not in page)
    for name in re.findall(rb"(?:src|href)=\"(/[^\"]+)\"", page):
        check(f"the page's part {name.decode()} is there", view.status(name.decode()) == 200)
    for what, wanted, request in (
            ("no cookie", 403, {"Cookie": None}), ("a wrong cookie", 403, {"Cookie": view.cookie[:-1] + "x"}),
            ("a cookie of another name", 403, {"Cookie": "x" + view.cookie}),
            ("a foreign Host", 421, {"Host": f"evil.example:{view.port}"}), ("another port in Host", 421, {"Host": "127.0.0.1:1"}),
            ("no port in Host", 421, {"Host": "127.0.0.1"}), ("localhost", 200, {"Host": f"localhost:{view.port}"}),
            ("its own Origin", 200, {"Origin": f"http://{here}"}), ("a foreign Origin", 403, {"Origin": "http://evil.example"}),
            ("Origin null", 403, {"Origin": "null"}), ("Origin with https", 403, {"Origin": f"https://{here}"}),
            ("another site", 403, {"Sec_Fetch_Site": "cross-site"}), ("another port's site", 403, {"Sec_Fetch_Site": "same-site"}),
            ("the page itself", 200, {"Sec_Fetch_Site": "same-origin"})):
        status = view.status(**request)
        check(f"{what}: {wanted}", status == wanted, status)
    check("a wrong token: 403", view.ask("/?token=" + "0" * 32)[0] == 403 and view.ask("/?token=")[0] == 403)
    check("POST: 405", view.ask("/api/live", "POST", Cookie=view.cookie)[0] in (400, 405))
    check("a body: 400", view.ask("/api/live", "POST", body="x", Cookie=view.cookie)[0] == 400)
    check("what is not there: 404", [view.status(path) for path in ("/x", "/api/x", "/timeline/../view.html", "/timeline/")] == [404] * 4)
    head = f"GET /api/live HTTP/1.1\r\nHost: {here}\r\nCookie: {view.cookie}\r\n".encode()
    for what, wanted, request in (
            ("no Host", b" 421 ", f"GET /api/live HTTP/1.1\r\nCookie: {view.cookie}\r\n\r\n".encode()), ("two Hosts", b" 400 ", head + b"Host: x\r\n\r\n"),
            ("garbage", b" 400 ", b"\x16\x03\x01\x02\0\r\n\r\n"), ("a NUL", b" 400 ", head + b"X: a\0b\r\n\r\n"),
            ("HTTP/2's preface", b" 400 ", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), ("chunks", b" 400 ", head + b"Transfer-Encoding: chunked\r\n\r\n"),
            ("a folded header", b" 400 ", head + b" x: y\r\n\r\n"), ("a head of 16 KiB", b" 431 ", (head + b"X: ").ljust(16384, b"a")),
            ("HTTP/1.0", b" 200 ", head.replace(b"1.1", b"1.0") + b"\r\n"), ("two requests at once", b" 200 ", (head + b"\r\n") * 2)):
        answer = view.raw(request)
        check(f"{what}:{wanted.decode()}", wanted in answer.split(b"\r\n")[0] and (wanted != b" 200 " or answer.count(b"\"version\"") in (1, 2)), answer[:80])
    slow = [socket.create_connection(("127.0.0.1", view.port)) for _ in range(100)]
    for client in slow:
        client.sendall(b"GET / HT")
    check("a hundred slow clients keep nobody out", view.status() == 200)
    for client in slow:
        client.close()
    check("it ends with status 0", view.end() == 0)


def test_answers(folder):
    view = View(make(folder, TRACE)).complete()
    timeline = view.get("timeline")
    names, kinds = timeline["names"], [timeline["kind_names"][kind] for kind in timeline["kinds"]]
    tracks = {track["name"]: track["id"] for track in timeline["tracks"]}
    check("tracks", list(tracks) == ["steps", "train", "other"], tracks)
    events = {(names[name] if track != tracks["steps"] else f"step {name}"): (track, row, begin, end, count)
              for track, row, begin, end, name, count in view.events(0, 10**9)}
    ms = 10**6
    check("a range", events["forward"] == (tracks["train"], 0, 10 * ms, 14 * ms, 1) and kinds[names.index("forward")] == "phase", events)
    check("a range in it", events["conv"][1:4] == (1, 11 * ms, 12 * ms))
    check("a step", events["step 0"] == (tracks["steps"], 0, 10 * ms, 20 * ms, 1))
    check("ranges that overlap are all there", all(events[name][3] - events[name][2] == 6 * ms for name in "abc"[:1]) and
          len({events[name][1] for name in "abc"}) == 3, [events[name] for name in "abc"])
    check("a mark, and a range without an end", events["here"][2] == events["here"][3] and events["open"][3] >= events["open"][2])
    check("a name with markup arrives as it is", any("</script>" in str(name) for name in names))
    check("spans outside the trace are empty", view.events(10**12, 10**13) == [] and view.status("/api/span?begin=5&end=5&pixels=1") == 400)
    for wrong in ("span", "span?begin=0&end=5", "span?begin=-1&end=5&pixels=9", "span?begin=0&end=1e9&pixels=9", "span?begin=5&end=1&pixels=9",
                  "span?begin=0&end=5&pixels=0", "span?begin=0&end=5&pixels=9&tracks=", "span?begin=0&end=5&pixels=9&tracks=a",
                  "span?begin=99999999999999999999&end=5&pixels=9", "totals?begin=0", "event?track=1", "find?text=&ns=0", "find?text=%zz&ns=0",
                  "find?text=%00&ns=0", "find?text=" + "a" * 300 + "&ns=0"):
        check(f"{wrong[:50]}: 400", view.status("/api/" + wrong) == 400)
    check("one track", {event[0] for event in view.events(0, 10**9, tracks=tracks["other"])} == {tracks["other"]})
    check("a track that is not there", view.events(0, 10**9, tracks=99999) == [] and view.get("event?track=99999&row=0&begin=0") is None)
    totals = view.get(f"totals?begin={11 * ms}&end={13 * ms}")
    sums = {names[item["name"]]: (item["count"], item["ns"]) for item in totals["names"]}
    selfs = {names[item["name"]]: item["self_ns"] for item in totals["names"]}
    check("and without the ranges within", selfs == {"forward": ms, "conv": ms, "receiver": ms}, selfs)
    check("sums of a selection", totals["exact"] and sums == {"forward": (1, 2 * ms), "conv": (1, ms), "receiver": (1, ms)}, sums)
    event = view.get(f"event?track={tracks['train']}&row=1&begin={11 * ms}")
    check("one event", event["name"] == "conv" and event["end_ns"] == 12 * ms and event["args"]["Input Dims"] == [[2, 3]], event)
    end = {"row": 0, "begin_ns": 12 * ms, "end_ns": 16 * ms, "name": names.index("receiver"), "count": 1}
    check("its flow, with the range at its other end", event["flows"] == [[tracks["train"], 11 * ms, tracks["other"], 13 * ms, end]], event["flows"])
    check("no such event", view.get(f"event?track={tracks['train']}&row=5&begin=1") is None)
    found = view.get("find?text=FORW&ns=0")
    check("search forward", found["begin_ns"] == 10 * ms and view.get(f"find?text=forward&ns={10 * ms}") is None, found)
    check("search backward", view.get(f"find?text=o&ns={12 * ms}&backward=1")["begin_ns"] == 11 * ms)
    view.end()


BESIDE = """
process 1 pid=1 name=a
thread 1 process=1 tid=1 name=one
thread 2 process=1 tid=2 name=two
stream 1 thread=1
at 1ms async-begin load 1
+1ms async-begin load 2
+1ms async-end load 2
+1ms async-end load 1
+0 async-begin load 1
+1ms async-begin send 1
+0 async-end load 9
at 1000ms begin zone end
+1ms end
stream 2 thread=2
at 0 counter queue 5
+1ms counter queue -1.5
+1ms counter queue nan
at 6ms async-end load 1
at 100ms counter "<b>" 1 detail="a\\u202eb"
repeat 5000
+1us counter loss 3
+1us counter loss 1
+1us counter loss 2
done
"""


def test_beside(folder):
    view = View(make(folder, BESIDE)).complete()
    timeline, ms = view.get("timeline"), 10**6
    tracks = {track["name"]: track for track in timeline["tracks"]}
    check("tracks of asynchronous ranges and counters", [track["kind"] for track in timeline["tracks"]] == ["thread", "async", "counter", "counter", "counter"], tracks)
    ranges = sorted((begin / ms, end / ms, timeline["names"][name], row) for track, row, begin, end, name, count in
                    view.events(0, 10**9) if track == tracks["asynchronous ranges"]["id"])
    check("each asynchronous range has a row where it is alone", [item for item in ranges if item[2] == "load"] == [
        (1, 4, "load", 0), (2, 3, "load", 1), (4, 6, "load", 0)] and ranges[-1][:1] + ranges[-1][2:] == (5, "send", 1), ranges)
    queue = tracks["queue"]
    check("a counter's values are known", (queue["low"], queue["high"], queue["not_finite"]) == (-1.5, 5, 1) and tracks["<b>"]["unit"].endswith("b"), queue)
    span = view.get(f"span?begin={ms // 2}&end={2 * ms}&pixels=100&tracks={queue['id']}")
    check("a span has the values in it and the one before", span["counters"] == [{"track": queue["id"], "at": [-ms // 2, ms], "last": [5, -1.5]}], span["counters"])
    loss = view.get(f"span?begin=0&end={10**9}&pixels=10&tracks={tracks['loss']['id']}")["counters"][0]
    check("values that are merged keep their least and greatest", loss == {"track": loss["track"], "at": [100001000], "last": [2], "low": [1], "high": [3]}, loss)
    check("no values before the first", view.get(f"span?begin=0&end={ms}&pixels=10&tracks={loss['track']}")["counters"] == [])
    data = view.get("timeline?bytes=100000")
    check("a file's counters are few enough", {item["track"] for item in data["counters"]} == {track["id"] for track in tracks.values() if track["kind"] == "counter"} and
          len(json.dumps(data["counters"])) < 20000, len(json.dumps(data["counters"])))
    view.end()


def test_two_browsers(folder):
    view = View(make(folder, random_trace())).complete()
    end = view.get("live")["end_ns"]
    windows = [(end * i // 40, end * (i + 1 + i % 5) // 40 + 1) for i in range(30)]
    alone, cookie = [view.events(*window) for window in windows], view.sign_in()
    view.status("/report")
    seen = []

    def browse():
        other = http.client.HTTPConnection("127.0.0.1", view.port, timeout=LIMIT)  # one connection, as a browser keeps it
        for begin, last in windows:
            other.request("GET", f"/api/span?begin={begin}&end={last}&pixels=8192", headers={"Cookie": cookie})
            answer = other.getresponse()
            seen.append((answer.status, sum(len(track["begin"]) for track in json.loads(answer.read())["tracks"])))
        other.close()
    second = threading.Thread(target=browse)
    second.start()
    first = [view.events(*window) for window in windows]
    second.join(LIMIT)
    check("two browsers at once see what one sees", first == alone and seen == [(200, len(events)) for events in alone], seen[:3])
    view.end()


def random_trace():
    """Ranges of all lengths in two threads, some of which overlap."""
    choose, lines = random.Random(5), ["process 1 pid=1 name=a", "thread 1 process=1 tid=1 name=a", "thread 2 process=1 tid=2 name=b"]
    for stream in (1, 2):
        lines += [f"stream {stream} thread={stream}", "at 1ms begin zone all"]
        depth = 1
        for i in range(12000):
            gap = int(10 ** choose.uniform(1, 5))
            if depth > 1 and (depth > 6 or choose.random() < 0.5):
                n = choose.randrange(min(depth - 1, 2)) if choose.random() < 0.05 else 0
                lines.append(f"+{gap}ns end-of {n}" if n else f"+{gap}ns end")
                depth -= 1
            else:
                lines.append(f"+{gap}ns begin zone n{choose.randrange(30)}")
                depth += 1
            if i % 700 == 699:
                lines.append("close")
    return "\n".join(lines) + "\n"


def test_merged_index(folder):
    """An index that must merge answers about short times what the whole one answers."""
    path = make(folder, random_trace())
    whole, merged = View(path).complete(), View(path, DWELL_TEST_SPAN_ITEMS="2000").complete()
    end, choose = whole.get("live")["end_ns"], random.Random(1)
    def counts(view):
        return [sum(event[5] for event in view.events(0, end, pixels=pixels)) for pixels in (1, 100, 8000)]

    everything = whole.events(0, end, pixels=1)
    check("one pixel for the whole run", 0 < len(everything) < 200, len(everything))
    check("a merged index has all ranges in its counts",
          counts(merged) == counts(whole), counts(merged), counts(whole))
    differences = []
    for _ in range(40):
        length = int(10 ** choose.uniform(4, 7))
        begin = choose.randrange(end - length)
        a = [event[:1] + event[2:] for event in whole.events(begin, begin + length)]
        b = [event[:1] + event[2:] for event in merged.events(begin, begin + length)]
        if length < end // 100 and sorted(a) != sorted(b):
            differences.append((begin, length, len(a), len(b)))
    check("short spans are the same", not differences, differences[:3])
    wrong = []
    for _ in range(10):
        begin = choose.randrange(end - 10**6)
        pair = [view.get(f"totals?begin={begin}&end={begin + 10**6}")["names"] for view in (whole, merged)]
        if sorted(map(str, pair[0])) != sorted(map(str, pair[1])):
            wrong.append(begin)
    check("sums are the same", not wrong, wrong)
    wrong = []
    for direction in ("", "&backward=1"):
        for _ in range(10):
            ns, text = choose.randrange(end), f"n{choose.randrange(30)}"
            pair = [view.get(f"find?text={text}&ns={ns}{direction}") for view in (whole, merged)]
            if (pair[0] or {}).get("begin_ns") != (pair[1] or {}).get("begin_ns"):
                wrong.append((text, ns, pair))
    check("search finds the same", not wrong, wrong[:2])
    whole.end(), merged.end()


def report_page(view):
    """The page of the report, when it has been made: its headers and bytes."""
    last = [None, None, b""]

    def is_there():
        last[:] = view.ask("/report", Cookie=view.cookie)
        return last[0] != 200 or b'id="data"' in last[2]
    assert wait_for(is_there) and last[0] == 200, last
    return last[1], last[2]


def test_report(folder):
    path, page = make(folder, TRACE), os.path.join(folder, "report.html")
    view = View(path).complete()
    check("the report needs the cookie", view.ask("/report")[0] == 403 and view.ask("/api/report")[0] == 403)
    check("its data is not there at once, or is", view.status("/api/report") in (200, 503))
    headers, content = report_page(view)
    subprocess.run([DWELL, "report", "--format", "html", "-o", page, path], check=True, capture_output=True)
    with open(page, "rb") as file:
        check("it is the page of dwell report", file.read() == content)
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    script = re.search(rb"<script>(.*)</script>", content, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
    check("its policy allows that script alone", policy["default-src"] == "'none'" and policy["script-src"] == f"'sha256-{digest}'", policy)
    check("its data is there", view.get("report")["version"] == 1 and view.get("report")["trace"]["paths"] == [path])
    check("the page of the timeline links to it", b'href="/report"' in view.ask("/", Cookie=view.cookie)[2])
    view.end()
    slow = View(make(folder, random_trace(), "slow.dwell"))
    content = slow.ask("/report", Cookie=slow.cookie)[2]
    check("while it is made, a percentage is shown", b'id="data"' in content or re.search(rb"Making the report: \d+%", content), content[:300])
    check("it ends while a report may be made", slow.end() == 0)


def test_report_that_nobody_wants(folder):
    """A browser asks for the report of a large trace once and leaves."""
    text = "process 1 pid=1 name=large\nthread 1 process=1 tid=1 name=main\nstream 1 thread=1\nrepeat 4000\n+1us step-begin\n" \
           "repeat 2000\n+1us begin operator conv\n+1us end\ndone\n+1us step-end\ndone\n"
    # Eight million ranges: on a fast machine, the report of two million is ready before the server stops it.
    view = View(make(folder, text, "large.dwell"), DWELL_TEST_REPORT_MS="50")
    tasks = f"/proc/{view.process.pid}/task"
    before = len(os.listdir(tasks))
    check("a report of a large trace is not there at once", view.status("/api/report") == 503)
    check("a thread makes it", len(os.listdir(tasks)) > before)
    check("it ends when nobody asks for it", wait_for(lambda: len(os.listdir(tasks)) == before))
    check("it was stopped", view.status("/api/report") == 503)
    check("it is made again if a browser asks", wait_for(
        lambda: view.status("/api/report") == 200 or len(os.listdir(tasks)) > before))
    view.end()
    # With the usual patience: on a busy machine more than 50 ms can lie between two questions.
    view = View(os.path.join(folder, "large.dwell"))
    check("it is made for a browser that stays", wait_for(lambda: view.status("/api/report") == 200))
    view.end()


def test_trace_that_goes(folder):
    path = make(folder, TRACE)
    view = View(path).complete()
    before = view.events(0, 10**9)
    os.unlink(path)
    check("a deleted trace is reported and still shown", view.get("live")["gone"] and view.events(0, 10**9) == before)
    check("a new file of its name is another trace", make(folder, TRACE) and view.get("live")["gone"])
    view.end()
    path = make(folder, random_trace(), "cut.dwell")
    view = View(path).complete()
    os.truncate(path, 4096)
    with open(os.devnull, "w"):
        try:
            for _ in range(20):
                view.events(0, 10**6)
                view.get(f"event?track=1&row=1&begin={random.randrange(10**7)}")
        except (OSError, http.client.HTTPException):
            pass
    status = view.end()
    check("a trace that is cut short ends it with a message, or is not read again", status in (0, 1), status)
    for name, content in (("empty", b""), ("text", b"hello")):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
        done = subprocess.run([DWELL, "view", "--no-browser", os.path.join(folder, name)], capture_output=True, text=True, check=False)
        check(f"a file that is {name}: an error", done.returncode == 1 and "dwell: " in done.stderr, done.stderr)
    view = View(make(folder, "process 1 pid=1 name=a\n", "none.dwell")).complete()
    check("a trace without events", view.events(0, 10**9) == [] and view.get("timeline")["tracks"] == [])
    check("a port that is taken", subprocess.run([DWELL, "view", "--no-browser", "--port", str(view.port), path], capture_output=True,
                                                 text=True, check=False).returncode == 1)
    view.end()


def test_live(folder):
    path = os.path.join(folder, "live.dwell")
    program = subprocess.Popen([DWELL, "run", "-o", path, PROGRAM, "600", "2000", "2"], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    check("the program records", wait_for(lambda: os.path.exists(path) and os.path.getsize(path) > 0))
    view = None

    def opens():
        nonlocal view
        try:
            view = View(path)
            return True
        except RuntimeError:
            return False
    check("its trace opens", wait_for(opens))
    check("it is live", wait_for(lambda: view.get("live")["live"]))
    first = view.complete().get("live")
    check("what is written later is shown", wait_for(lambda: view.get("live")["version"] > first["version"] + 1 and
                                                     view.get("live")["end_ns"] > first["end_ns"]))
    first = json.loads(re.search(rb'id="data">(.*?)</script>', report_page(view)[1], re.DOTALL).group(1))["trace"]
    check("a report of what is there so far", first["live"], first)

    def is_newer():
        status, _, content = view.ask("/api/report", Cookie=view.cookie)
        return status == 200 and json.loads(content)["trace"]["end_ns"] > first["end_ns"]
    check("a later one has what was written since", wait_for(is_newer))
    last = view.get("live")["end_ns"]
    check("its newest events are there", bool(view.events(max(0, last - 10**8), last)))
    program.stdin.close()
    program.wait(LIMIT)
    check("its end is shown", wait_for(lambda: not view.get("live")["live"]))
    view.end()


def main():
    tests = {name[5:]: function for name, function in globals().items() if name.startswith("test_")}
    for name, test in tests.items():
        if len(sys.argv) > 4 and name not in sys.argv[4:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(folder)
            finally:
                for view in View.all:
                    view.process.kill() # it outlives a failed test otherwise
    print(f"{passes} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
