#!/usr/bin/env python3
"""A second reader of dwell's trace files, written from doc/reference/format.md alone.

    second_reader.py TRACE.dwell     name,calls,self_ns,total_ns of operators, as CSV
It shares no code with the C reader, so that a test can compare what the two say.
"""
import collections
import csv
import struct
import sys

BLOCK = 65536
PAYLOAD = [0, 0, 2, 4, 2, 0, 2, 2, 2, 2, 3, 0, 0, 1, 2, 0]
OPERATOR = 2


def entries(data):
    """The entries of one journal chunk, holes passed over."""
    at = 64
    while at + 16 <= len(data):
        tag, size, id, aux = struct.unpack_from("<IIII", data, at)
        fits = size % 8 == 0 and 16 <= size <= 32768 and at + size <= len(data)
        if tag >> 16 != 0x4457 or not fits:
            at += size if fits and not tag else 8   # a hole of that size, or damage
            continue
        yield tag & 0xFFFF, id, aux, data[at + 16:at + size]
        at += size


def records(data, end, ticks):
    """(ticks, kind, id, payload) of one stream chunk; kind None is an end."""
    at = 64
    while at + 4 <= end:
        word0, = struct.unpack_from("<I", data, at)
        if not word0 & 1:
            return
        ticks += word0 >> 2
        if word0 & 2:
            yield ticks, None, 0, b""
            at += 4
            continue
        if at + 8 > end:
            return
        word1, = struct.unpack_from("<I", data, at + 4)
        kind, id = word1 >> 28, word1 & 0x0FFFFFFF
        words = id & 0xFFF if kind == 15 else PAYLOAD[kind]
        payload = data[at + 8:at + 8 + 4 * words]
        if at + 8 + 4 * words > end:
            return
        if kind == 15 and words >= 2:
            ticks, = struct.unpack_from("<Q", payload)
        yield ticks, kind, id, payload
        at += 8 + 4 * words


class Trace:
    def __init__(self, path):
        data = open(path, "rb").read()
        if data[:8] != b"\x89DWELL\r\n" or struct.unpack_from("<H", data, 8)[0] > 1:
            sys.exit("%s: no trace of format 1" % path)
        self.kind, _, rate, start, monotonic, _ = struct.unpack_from("<IIQQQQ", data, 152)
        self.strings, self.ops = {}, {}
        self.ends = collections.defaultdict(int)      # by process: the last thing it wrote
        self.streams = collections.defaultdict(dict)  # by (process, stream): number -> chunk
        last = (0, 0)
        for block in range(BLOCK, len(data), BLOCK):
            chunk = data[block:block + BLOCK]
            if len(chunk) < 64 or struct.unpack_from("<I", chunk)[0] != 0x48435744:
                continue
            (type, process, stream, number, base, end_ticks, end,
             thread) = struct.unpack_from("<IIIQQQII", chunk, 4)
            if type == 2:
                for what, id, aux, body in entries(chunk):
                    if what == 1:
                        self.ends[id] = max(self.ends[id], struct.unpack_from("<Q", body, 8)[0])
                    elif what == 2:
                        self.ends[aux] = max(self.ends[aux], struct.unpack_from("<Q", body, 8)[0])
                    elif what == 3:
                        self.strings[id] = body[:aux & 0x7FFFFFFF] + (b"..." if aux >> 31 else b"")
                    elif what == 4:
                        self.ops[id] = (aux, struct.unpack_from("<I", body)[0])
                    elif what == 10:
                        last = max(last, struct.unpack_from("<QQ", body))
                    elif what == 12:
                        times = struct.unpack_from("<QQ", body, 8)  # of a cancelled one too
                        self.ends[process] = max(self.ends[process], *times)
            elif type == 1 and number:
                end = min(end or BLOCK, len(chunk))
                self.streams[process, stream].setdefault(number, (chunk, end, base, thread))
                times = [base, end_ticks] if end_ticks else [r[0] for r in records(chunk, end, base)]
                self.ends[process] = max(self.ends[process], base, *times)
        self.ns_per_tick = 1e9 / rate if rate else 1.0
        if self.kind == 1:
            self.ns_per_tick = 1.0
        elif last[0] > start and last[1] > monotonic + 10 ** 6:
            self.ns_per_tick = (last[1] - monotonic) / (last[0] - start)

    def name(self, id):
        category, name = self.ops.get(id, (0, 0))
        return category, self.strings.get(name, b"(unknown)").decode("utf-8", "replace")

    def operators(self):
        """name -> [calls, self ticks, total ticks]"""
        rows = collections.defaultdict(lambda: [0, 0, 0])
        for (process, stream), chunks in self.streams.items():
            stack, time, before = [], 0, None   # stack: [name, start, children, is operator]
            scope = None                        # how deep the stack may be at its SCOPE_END
            def end(index, now):
                nonlocal scope
                if scope is not None and index < scope:
                    scope -= 1                  # it began before the scope
                name, start, inner, operator, *_ = stack.pop(index)
                if not operator:
                    return
                # one that goes on (END_OF) was the child so far and is its parent's from now
                above = next((now - frame[1] for frame in stack[index:] if frame[3]), 0)
                below = next((frame for frame in reversed(stack[:index]) if frame[3]), [0] * 4)
                below[2] += now - start - above
                for column, value in enumerate((1, now - start - inner - above, now - start)):
                    rows[name][column] += value

            for number in sorted(chunks):
                chunk, limit, base, thread = chunks[number]
                if before is not None and (number != before[0] + 1 or thread != before[1]):
                    while stack:                # a gap, or another thread
                        end(len(stack) - 1, time)
                    scope = None
                before = (number, thread)
                time = max(time, base)
                for ticks, kind, id, payload in records(chunk, limit, base):
                    time = max(time, ticks)
                    if kind is None:
                        nested = [at for at, frame in enumerate(stack) if not frame[5]]
                        if nested:
                            end(nested[-1], time)
                    elif kind == 15 and id == 2 << 12 and stack:
                        stack[-1][5] = True     # it ends by name
                    elif kind == 15 and id == 4 << 12:
                        scope = len(stack)
                    elif kind == 15 and id == 5 << 12:
                        while scope is not None and len(stack) > scope:
                            end(len(stack) - 1, time)
                        scope = None
                    elif kind == 0:
                        category, name = self.name(id)
                        stack.append([name, time, 0, category == OPERATOR, id, False])
                    elif kind in (5, 14):       # another thread; or ends may be among what was lost
                        while stack and (kind == 14 or id != before[1]):
                            end(len(stack) - 1, time)
                        before = (number, id if kind == 5 else before[1])
                        scope = None
                    elif kind == 13 and id:
                        begun = [at for at, frame in enumerate(stack) if frame[4] == id][::-1]
                        number_of, = struct.unpack("<I", payload)
                        if number_of < len(begun):
                            end(begun[number_of], time)
                    elif kind == 13 and struct.unpack("<I", payload)[0] < len(stack):
                        end(len(stack) - 1 - struct.unpack("<I", payload)[0], time)
            while stack:
                end(len(stack) - 1, self.ends[process])
        return rows


if __name__ == "__main__":
    trace = Trace(sys.argv[1])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["name", "calls", "self_ns", "total_ns"])
    rows = [(name, calls, *(int(t * trace.ns_per_tick + 0.5) for t in ticks))
            for name, (calls, *ticks) in trace.operators().items()]
    for row in sorted(rows, key=lambda row: (-row[2], -row[3], row[0])):
        out.writerow(row)
