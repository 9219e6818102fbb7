"""Who calls whom in shared objects of x86-64, and how much stack each call takes: from their disassembly.

A function is known by its library and its address, because files may have static functions of the same name. Its stack
is followed through all of its instructions: pushes, moved stack pointers, and frames that a frame pointer ends.
An address of a function that another function loads counts as a call of it, because it is passed on to be called.
"""
import re
import subprocess

FUNCTION = re.compile(r"^([0-9a-f]+) <(.+)>:$")
INSTRUCTION = re.compile(r"^ +([0-9a-f]+):\t(.*)$")
DIRECT = re.compile(r"^([0-9a-f]+) <([^>+]+)(\+0x[0-9a-f]+)?>")
COMMENT = re.compile(r"# ([0-9a-f]+) <([^>]+)>")
PREFIXES = re.compile(r"^(?:(?:notrack|bnd|data16|rex\.\w+|cs|ds|repz|lock|addr32|rep) )+")
BELOW = re.compile(r"-0x([0-9a-f]+)\(%rsp")  # a function that calls none may use 128 bytes below the stack pointer
ELSEWHERE = None  # the depth while the stack pointer is on another stack


class Function:
    def __init__(self, library, address, name):
        self.library, self.address, self.name = library, address, name
        self.instructions = []  # (address, mnemonic, operands, comment)
        self.calls = []    # (depth at the call, or ELSEWHERE; Function or name of an external one; "call", "jump" or "address")
        self.indirect = [] # (depth, what the target was read from: text, offset or None; "call" or "jump")
        self.frame = 0     # bytes of stack, with the return address, without those that it calls
        self.unbounded = False  # its frame's size is known at run time only

    def __repr__(self):
        return f"{self.library.name}:{self.name}"


class Library:
    """The functions of one shared object. `functions` is by address, `exports` by name."""
    def __init__(self, path, name):
        self.path, self.name = path, name
        self.functions, self.exports, self.plt, self.slots = {}, {}, {}, {}
        self.public = set()  # exported: who loads the address of one compares it
        self.binds_now = bool(re.search(r"\bBIND_NOW\b|Flags:.*\bNOW\b", run("readelf", "-Wd", path)))
        self.read_relocations()
        self.read_code()
        self.read_exports()
        for function in self.functions.values():
            follow(function)

    def read_relocations(self):
        """Names of functions by the address of the word that the dynamic linker fills in."""
        for line in run("readelf", "-Wr", self.path).splitlines():
            found = re.match(r"^([0-9a-f]+) +[0-9a-f]+ R_X86_64_(?:GLOB_DAT|JUMP_SLOT|64) +[0-9a-f]+ ([^ @]+)", line)
            if found:
                self.slots[int(found[1], 16)] = found[2]

    def read_code(self):
        function = None
        for line in run("objdump", "-d", "-w", "--no-show-raw-insn", self.path).splitlines():
            found = FUNCTION.match(line)
            if found:
                address = int(found[1], 16)
                if found[2].endswith("@plt"):
                    self.plt[address] = found[2][:-4]
                    function = None
                else:
                    function = self.functions[address] = Function(self, address, found[2])
                continue
            found = INSTRUCTION.match(line)
            if found and function:
                text, _, comment = found[2].partition("#")
                text = PREFIXES.sub("", re.sub(r" +", " ", text.strip()))
                mnemonic, _, operands = text.partition(" ")
                function.instructions.append((int(found[1], 16), mnemonic, operands, "#" + comment if comment else ""))

    def read_exports(self):
        for line in run("nm", "-D", "--defined-only", self.path).splitlines():
            address, kind, name = line.split()
            if kind in "TWi" and int(address, 16) in self.functions:
                self.exports[name.split("@")[0]] = self.functions[int(address, 16)]
        self.public = set(self.exports.values())

    def named(self, name):
        """Functions of this name, with parts of it that the compiler made of it."""
        return [each for each in self.functions.values() if each.name.split(".")[0] == name]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]}: {done.stderr.strip()}")
    return done.stdout


def containing(library, address):
    return library.functions.get(address)


def constant(text):
    found = re.match(r"\$(-?0x[0-9a-f]+)", text)
    value = int(found[1], 16) if found else None
    return value - (1 << 64) if value and value >= 1 << 63 else value


class State:
    """What is known of the stack before an instruction."""
    def __init__(self, depth=8, base=None, saved=()):
        self.depth, self.base, self.saved = depth, base, dict(saved)

    def copy(self):
        return State(self.depth, self.base, self.saved)


def step(function, state, mnemonic, operands):
    """Changes the state by an instruction that moves the stack pointer."""
    amount = constant(operands)
    if mnemonic in ("push", "pushf", "pushq"):
        state.depth = state.depth if state.depth is ELSEWHERE else state.depth + 8
    elif mnemonic in ("pop", "popf"):
        state.depth = state.depth if state.depth is ELSEWHERE else state.depth - 8
    elif mnemonic == "leave":
        state.depth = (state.base or 16) - 8
    elif mnemonic == "mov" and operands == "%rsp,%rbp":
        state.base = state.depth
    elif mnemonic == "mov" and operands.startswith("%rsp,"):
        state.saved[operands[5:]] = state.depth
    elif mnemonic == "mov" and operands.endswith(",%rsp"):
        state.depth = state.saved.get(operands[:-5], ELSEWHERE)
    elif not operands.endswith(",%rsp") or state.depth is ELSEWHERE:
        return
    elif mnemonic == "sub" and amount is not None:
        state.depth += amount
    elif mnemonic == "add" and amount is not None:
        state.depth -= amount
    elif mnemonic == "and" and amount is not None:
        state.depth += -amount - 8
    elif mnemonic == "lea":
        found = re.match(r"(-?0x[0-9a-f]+)?\(%(rbp|rsp)\),", operands)
        offset = int(found[1] or "0", 16) if found else 0
        if found:
            state.depth = (state.base if found[2] == "rbp" and state.base else state.depth) - offset
    elif mnemonic in ("sub", "add"):
        function.unbounded = True


def read_from(function, at, register):
    """What a register was set to, by the nearest instructions before: (text, offset); see source()."""
    result = register, None
    for _, mnemonic, operands, comment in reversed(function.instructions[max(0, at - 200):at]):
        if mnemonic == "call" and register == "%rax":
            return "result of " + re.sub(r"@plt", "", operands.split("<")[-1].rstrip(">")), None
        if not operands.endswith("," + register) or mnemonic in ("cmp", "test"):
            continue
        if mnemonic == "mov" and re.match(r"%\w+,", operands):
            register = operands.split(",")[0]
            result = register, None
        elif mnemonic == "mov":
            return source(operands, comment)
        else:
            return ("table of jumps", None) if mnemonic in ("add", "movslq") else (operands, None)
    return result


def source(operands, comment):
    """What an operand in memory is: the variable's name, or the offset from a register."""
    found = COMMENT.search(comment)
    if found:
        return re.sub(r"@.*", "", found[2]), None
    found = re.match(r"\*?(-?0x[0-9a-f]+)?\((%\w+)\)", operands)
    return (operands, int(found[1] or "0", 16)) if found else (operands, None)


def note_call(function, at, state, mnemonic, operands, comment):
    """Notes a call or a jump out of the function. Returns the address of a jump within it."""
    library, kind = function.library, "call" if mnemonic == "call" else "jump"
    found = DIRECT.match(operands)
    if found:
        to = int(found[1], 16)
        if kind == "jump" and function.address <= to <= function.instructions[-1][0]:
            return to
        function.calls.append((state.depth, library.plt.get(to) or containing(library, to) or found[2], kind))
        return None
    if operands.startswith("*"):
        where = source(operands, comment)
        if re.match(r"\*%\w+$", operands):
            where = read_from(function, at, operands[1:])
        slot = COMMENT.search(comment)
        name = library.slots.get(int(slot[1], 16)) if slot else None
        if name:
            function.calls.append((state.depth, name, kind))
        elif where[0] != "table of jumps":
            function.indirect.append((state.depth, where[0], where[1], kind))
    return None


def follow(function):
    """Follows all paths through a function. Each instruction is seen with the deepest stack with which it is reached."""
    index = {each[0]: i for i, each in enumerate(function.instructions)}
    seen, todo = {}, [(0, State())]
    noted = set()
    tables = [i for i, each in enumerate(function.instructions) if each[1] == "jmp" and each[2].startswith("*%")]
    while todo:
        at, state = todo.pop()
        while at < len(function.instructions):
            before = seen.get(at)
            if before is not None and (state.depth is ELSEWHERE or before >= state.depth):
                break
            seen[at] = -1 if state.depth is ELSEWHERE else state.depth
            address, mnemonic, operands, comment = function.instructions[at]
            step(function, state, mnemonic, operands)
            if state.depth is not ELSEWHERE:
                below = BELOW.search(operands)
                function.frame = max(function.frame, state.depth + (int(below[1], 16) if below else 0))
            if mnemonic == "call" or mnemonic[0] == "j":
                if (at, state.depth) not in noted:
                    noted.add((at, state.depth))
                    to = note_call(function, at, state, mnemonic, operands, comment)
                else:
                    to = None
                if to in index:
                    todo.append((index[to], state.copy()))
                if mnemonic == "jmp":
                    break
            elif mnemonic in ("ret", "ud2", "hlt"):
                break
            elif mnemonic in ("lea", "mov"):
                note_address(function, state, operands, comment)
            at += 1
        if not todo and tables:  # what only a table of jumps leads to
            left = [i for i in range(len(function.instructions)) if i not in seen and i and after_table(function, i)]
            deepest = max([seen.get(i, 8) for i in tables] + [8])
            if left:
                todo.append((left[0], State(deepest, state.base or deepest)))


def after_table(function, at):
    """Whether no instruction before this one leads to it, and it is code."""
    return function.instructions[at - 1][1] in ("jmp", "ret", "nop", "nopw", "nopl", "xchg", "cs") and \
        not function.instructions[at][1].startswith(("nop", "xchg", "data16", "int3"))


def note_address(function, state, operands, comment):
    found = COMMENT.search(comment)
    if not found:
        return
    to = function.library.functions.get(int(found[1], 16))
    if to and to is not function and to not in function.library.public and "(%rip)" in operands and \
            not operands.endswith("(%rip)"):
        function.calls.append((state.depth, to, "address"))
