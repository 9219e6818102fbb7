"""The least of HTTP/2, gRPC and protobuf that a client of the capture service needs.

On sockets alone, so that the tests can send what no client library would: half frames,
garbage, too much, nothing. call() is one whole call; Raw is for everything else.
"""
import socket
import struct
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST, SETTINGS, PING, GOAWAY, WINDOW = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
SERVICE = "/tensorflow.ProfilerService/"
OK, INVALID, EXISTS, EXHAUSTED, ABORTED, UNIMPLEMENTED, INTERNAL, UNAUTHENTICATED = \
    0, 3, 6, 8, 10, 12, 13, 16


# ---- protobuf ------------------------------------------------------------------------

def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """A number, or bytes, as a field of a message."""
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    return varint(number << 3) + varint(value)


def take_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of each field of a message."""
    at = 0
    while at < len(data):
        tag, at = take_varint(data, at)
        if tag & 7 == 0:
            value, at = take_varint(data, at)
        elif tag & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            length, at = take_varint(data, at)
            value, at = data[at:at + length], at + length
        yield tag >> 3, value


def profile_request(milliseconds, session="s", start_ns=0, python=0, emit=False, more=b""):
    options = field(9, milliseconds) + (field(8, start_ns) if start_ns else b"") + \
        (field(4, python) if python else b"")
    return field(1, milliseconds) + field(3, "xplane.pb") + field(4, options) + \
        field(6, session) + (field(9, 1) if emit else b"") + more


def tool_data(reply):
    """The XSpace of a ProfileResponse."""
    found = dict(fields(reply))
    if 8 in found:
        return bytes(found[8])
    return bytes(dict(fields(found[6]))[2])


def events(space):
    """Names of events and how often each occurs, of all lines of the host's plane."""
    counts = {}
    for number, plane in fields(space):
        if number != 1 or dict(fields(plane)).get(2) != b"/host:CPU":
            continue
        names = {}
        for part, value in fields(plane):
            if part == 4:
                meta = dict(fields(dict(fields(value))[2]))
                names[meta[1]] = meta.get(4, meta.get(2, b"")).decode()
        for part, line in fields(plane):
            if part == 3:
                for inner, event in fields(line):
                    if inner == 4:
                        name = names[next(value for key, value in fields(event) if key == 1)]
                        counts[name] = counts.get(name, 0) + 1
    return counts


# ---- HTTP/2 --------------------------------------------------------------------------

def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + \
        struct.pack(">I", stream) + payload


def header(name, value):
    """A literal that is not indexed and not compressed."""
    name, value = name.encode(), value.encode() if isinstance(value, str) else value
    return b"\0" + hpack_length(len(name)) + name + hpack_length(len(value)) + value


def hpack_length(length):
    return bytes((length,)) if length < 127 else b"\x7f" + varint(length - 127)


def headers(path, more=(), content="application/grpc"):
    pairs = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost"),
             ("content-type", content), ("te", "trailers"), *more]
    return b"".join(header(name, value) for name, value in pairs)


def message(data, compressed=0):
    return struct.pack(">BI", compressed, len(data)) + data


def literals(block):
    """The header block of our server's: static indices and literals, without Huffman. Only
    grpc-status and grpc-message are looked for, in the bytes."""
    found = {}
    for name in (b"grpc-status", b"grpc-message"):
        coded = huffman(name)
        at = block.find(coded)
        if at >= 0:
            at += len(coded)
            long, length = block[at] & 128, block[at] & 127
            at += 1
            if length == 127:
                more, at = take_varint(block, at)
                length += more
            value = block[at:at + length]
            found[name.decode()] = unhuffman(value) if long else value.decode()
    return found


# The part of RFC 7541's table that the answers use: code, bits.
_CODES = {}
for _bits, _first, _chars in (
        (5, 0x0, "012aceiost"), (6, 0x14, " %-./3456789=A_bdfghlmnpru"),
        (7, 0x5c, ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz"), (8, 0xf8, "&*,;XZ"), (10, 0x3f8, "!\"()?"),
        (11, 0x7fa, "'+|"), (12, 0xffa, "#>")):
    for _index, _char in enumerate(_chars):
        _CODES[_char] = (_first + _index, _bits)
_DECODE = {(bits, code): char for char, (code, bits) in _CODES.items()}


def huffman(text):
    bits = "".join(format(_CODES[chr(byte)][0], f"0{_CODES[chr(byte)][1]}b") for byte in text)
    bits += "1" * (-len(bits) % 8)
    return bytes(int(bits[at:at + 8], 2) for at in range(0, len(bits), 8))


def unhuffman(data):
    out, code, bits = "", 0, 0
    for byte in data:
        for shift in range(7, -1, -1):
            code, bits = code << 1 | byte >> shift & 1, bits + 1
            if (bits, code) in _DECODE:
                out, code, bits = out + _DECODE[bits, code], 0, 0
    return out


class Raw:
    """A connection, said hello to."""

    def __init__(self, port, hello=True, timeout=60, host="127.0.0.1"):
        self.socket = socket.create_connection((host, port), timeout=timeout)
        self.left = b""
        if hello:
            window = struct.pack(">HI", 4, 0x7fffffff)
            self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0, window) +
                                frame(WINDOW, 0, 0, struct.pack(">I", 0x7fff0000 - 65535)))

    def send(self, data):
        self.socket.sendall(data)

    def ask(self, stream, path, data, more=()):
        self.send(frame(HEADERS, END_HEADERS, stream, headers(path, more)) +
                  frame(DATA, END_STREAM, stream, data))

    def _exactly(self, count):
        while len(self.left) < count:
            got = self.socket.recv(1 << 20)
            if not got:
                raise ConnectionError("closed")
            self.left += got
        data, self.left = self.left[:count], self.left[count:]
        return data

    def read_frame(self):
        head = self._exactly(9)
        length = int.from_bytes(head[:3], "big")
        return head[3], head[4], int.from_bytes(head[5:], "big"), self._exactly(length)

    def answer(self, stream):
        """(status, message, bytes) of a call."""
        parts, status = [], {}
        while True:
            kind, flags, which, payload = self.read_frame()
            if kind == SETTINGS and not flags & ACK:
                self.send(frame(SETTINGS, ACK, 0))
            if kind == GOAWAY:
                raise ConnectionError("GOAWAY " + repr(payload))
            if which != stream:
                continue
            if kind == RST:
                raise ConnectionError("RST_STREAM")
            if kind == DATA:
                parts.append(payload)
            if kind == HEADERS:
                status.update(literals(payload))
            if kind in (DATA, HEADERS) and flags & END_STREAM:
                data = b"".join(parts)
                return int(status.get("grpc-status", -1)), status.get("grpc-message", ""), data[5:]

    def close(self):
        self.socket.close()


def call(port, method, data, more=(), path=None, host="127.0.0.1"):
    """One call on a connection of its own: (status, message, reply)."""
    raw = Raw(port, host=host)
    try:
        raw.ask(1, path or SERVICE + method, message(data), more)
        return raw.answer(1)
    finally:
        raw.close()


def wait_port(port, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(f"nothing listens at {port}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
