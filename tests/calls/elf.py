"""Functions of a file for Linux: by its symbols, and where it is stripped by its unwind table."""
import collections
import struct

Function = collections.namedtuple("Function", "name address offset size")  # "": it has none
SYMTAB, DYNSYM, FUNCTION = 2, 11, 2
PARTS = (".cold", ".part.", "._omp_fn.", ".resolver")


class File:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.data = file.read()
        begin = struct.unpack_from("<Q", self.data, 40)[0]
        size, count, names = struct.unpack_from("<HHH", self.data, 58)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, begin + i * size) for i in range(count)]
        self.names = self.sections[names][4] if names < count else 0

    def text(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode("latin-1")

    def offset(self, address):
        """Of code in the file. None: it is another section, as the table of jumps to libraries."""
        for name, _, _, begin, offset, size, *_ in self.sections:
            if begin <= address < begin + size and self.text(self.names + name) == ".text":
                return offset + address - begin
        return None

    def named(self):
        tables = {section[1]: section for section in self.sections if section[1] in (SYMTAB, DYNSYM)}
        table = tables.get(SYMTAB) or tables.get(DYNSYM)
        for at in range(table[4], table[4] + table[5], 24) if table else ():
            name, info, _, section, address, size = struct.unpack_from("<IBBHQQ", self.data, at)
            if info & 15 == FUNCTION and section and size:
                yield self.text(self.sections[table[6]][4] + name), address, size

    def unwound(self):
        for section in self.sections:
            if self.text(self.names + section[0]) != ".eh_frame_hdr":
                continue
            at, address = section[4], section[3]
            if self.data[at:at + 4] == b"\x01\x1b\x03\x3b":
                for i in range(struct.unpack_from("<I", self.data, at + 8)[0]):
                    begin, entry = struct.unpack_from("<ii", self.data, at + 12 + 8 * i)
                    yield address + begin, struct.unpack_from("<I", self.data, at + entry + 12)[0]

    def functions(self):
        names = collections.defaultdict(list)
        sizes = dict(self.unwound())
        for name, address, size in self.named():
            names[address].append(name)
            sizes[address] = size
        seen = collections.Counter(name for each in names.values() for name in each)
        for address in sorted(sizes):
            own, offset = names[address], self.offset(address)
            # Of two functions of one name nobody knows which is meant.
            if offset and not any(part in name for name in own for part in PARTS) and all(seen[name] == 1 for name in own):
                yield Function(own[0] if own else "", address, offset, sizes[address])
