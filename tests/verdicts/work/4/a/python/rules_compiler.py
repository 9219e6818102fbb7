"""Compiler and virtual machine for the pricing-rules language: scanner,
parser, constant folding, stack code, and a run over sample programs."""
import re
from dataclasses import dataclass, field

TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_]\w*)|(<=|>=|==|!=|[-+*/%<>=(){};]))")
KEYWORDS = {"while", "if", "else", "print"}
PRECEDENCE = {"==": 1, "!=": 1, "<": 2, ">": 2, "<=": 2, ">=": 2,
              "+": 3, "-": 3, "*": 4, "/": 4, "%": 4}
FOLD = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
        "/": lambda a, b: a // b, "%": lambda a, b: a % b,
        "<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b),
        "<=": lambda a, b: int(a <= b), ">=": lambda a, b: int(a >= b),
        "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b)}


def scan(source):
    tokens, at, source = [], 0, source.rstrip()
    while at < len(source):
        match = TOKEN.match(source, at)
        if not match:
            raise SyntaxError(f"unexpected {source[at:at + 10]!r}")
        number, name, symbol = match.groups()
        if number:
            tokens.append(("num", int(number)))
        elif name:
            tokens.append((name if name in KEYWORDS else "name", name))
        else:
            tokens.append((symbol, symbol))
        at = match.end()
    tokens.append(("end", None))
    return tokens


class Parser:
    def __init__(self, tokens):
        self.tokens, self.at = tokens, 0

    def peek(self):
        return self.tokens[self.at][0]

    def take(self, kind=None):
        token = self.tokens[self.at]
        if kind and token[0] != kind:
            raise SyntaxError(f"expected {kind}, found {token[1]!r}")
        self.at += 1
        return token[1]

    def program(self):
        body = []
        while self.peek() != "end":
            body.append(self.statement())
        return ("block", body)

    def block(self):
        self.take("{")
        body = []
        while self.peek() != "}":
            body.append(self.statement())
        self.take("}")
        return ("block", body)

    def statement(self):
        kind = self.peek()
        if kind == "while":
            self.take()
            return ("while", self.expression(), self.block())
        if kind == "if":
            self.take()
            condition, then, other = self.expression(), self.block(), ("block", [])
            if self.peek() == "else":
                self.take()
                other = self.block()
            return ("if", condition, then, other)
        if kind == "print":
            self.take()
            node = ("print", self.expression())
        else:
            name = self.take("name")
            self.take("=")
            node = ("set", name, self.expression())
        self.take(";")
        return node

    def expression(self, level=0):
        left = self.operand()
        while PRECEDENCE.get(self.peek(), 0) > level:
            op = self.take()
            left = fold(("op", op, left, self.expression(PRECEDENCE[op])))
        return left

    def operand(self):
        if self.peek() == "(":
            self.take()
            node = self.expression()
            self.take(")")
            return node
        if self.peek() == "num":
            return ("num", self.take())
        return ("get", self.take("name"))


def fold(node):
    _, op, a, b = node
    if a[0] == b[0] == "num" and not (op in "/%" and b[1] == 0):
        return ("num", FOLD[op](a[1], b[1]))
    if b == ("num", 0) and op in "+-" or b == ("num", 1) and op in "*/":
        return a
    return node


@dataclass
class Code:
    """Instructions as parallel lists, so that the machine reads plain ints."""
    ops: list = field(default_factory=list)
    args: list = field(default_factory=list)
    slots: dict = field(default_factory=dict)

    def emit(self, op, arg=0):
        self.ops.append(op)
        self.args.append(arg)
        return len(self.ops) - 1

    def slot(self, name):
        return self.slots.setdefault(name, len(self.slots))


PUSH, LOAD, STORE, JUMP, JUMP_FALSE, PRINT, HALT, ADD, SUB, MUL, MOD, LESS, OTHER = range(13)
FAST = {"+": ADD, "-": SUB, "*": MUL, "%": MOD, "<": LESS}


def generate(node, code):
    kind = node[0]
    if kind == "num":
        code.emit(PUSH, node[1])
    elif kind == "get":
        code.emit(LOAD, code.slot(node[1]))
    elif kind == "op":
        generate(node[2], code)
        generate(node[3], code)
        code.emit(FAST.get(node[1], OTHER), FOLD[node[1]])
    elif kind == "set":
        generate(node[2], code)
        code.emit(STORE, code.slot(node[1]))
    elif kind == "print":
        generate(node[1], code)
        code.emit(PRINT)
    elif kind == "block":
        for child in node[1]:
            generate(child, code)
    elif kind == "while":
        start = len(code.ops)
        generate(node[1], code)
        out = code.emit(JUMP_FALSE)
        generate(node[2], code)
        code.emit(JUMP, start)
        code.args[out] = len(code.ops)
    elif kind == "if":
        generate(node[1], code)
        skip = code.emit(JUMP_FALSE)
        generate(node[2], code)
        out = code.emit(JUMP)
        code.args[skip] = len(code.ops)
        generate(node[3], code)
        code.args[out] = len(code.ops)


def compile_source(source):
    code = Code()
    generate(Parser(scan(source)).program(), code)
    code.emit(HALT)
    return code


def run(code):
    ops, args, memory = code.ops, code.args, [0] * len(code.slots)
    stack, printed, pc, executed = [], [], 0, 0
    push, pop = stack.append, stack.pop
    while True:
        op, arg = ops[pc], args[pc]
        pc += 1
        executed += 1
        if op == LOAD:
            push(memory[arg])
        elif op == PUSH:
            push(arg)
        elif op == STORE:
            memory[arg] = pop()
        elif op == ADD:
            b = pop()
            stack[-1] += b
        elif op == LESS:
            b = pop()
            stack[-1] = int(stack[-1] < b)
        elif op == JUMP_FALSE:
            if not pop():
                pc = arg
        elif op == JUMP:
            pc = arg
        elif op == MUL:
            b = pop()
            stack[-1] *= b
        elif op == MOD:
            b = pop()
            stack[-1] %= b
        elif op == SUB:
            b = pop()
            stack[-1] -= b
        elif op == OTHER:
            b = pop()
            stack[-1] = arg(stack[-1], b)
        elif op == PRINT:
            printed.append(pop())
        else:
            return printed, executed


SAMPLES = {
    "collatz": """
        n = 1; best = 0; at = 0;
        while n < 20000 {
            x = n; steps = 0;
            while x != 1 { if x % 2 == 0 { x = x / 2; } else { x = 3 * x + 1; } steps = steps + 1; }
            if steps > best { best = steps; at = n; }
            n = n + 1;
        }
        print at; print best;""",
    "tiers": """
        order = 0; seed = 7; revenue = 0; volume = 0;
        while order < 330000 {
            seed = (seed * 1103515245 + 12345) % (256 * 256 * 256 * 128);
            quantity = seed / 65536 % 90 + 1;
            price = 10 * 100 - 1;
            if quantity > 60 { price = price * 80 / 100; }
            else { if quantity > 24 { price = price * 90 / 100; } else { price = price + 0; } }
            revenue = revenue + quantity * price; volume = volume + quantity;
            order = order + 1;
        }
        print volume; print revenue;""",
}


def main():
    for name, source in SAMPLES.items():
        code = compile_source(source)
        printed, executed = run(code)
        print(f"{name}: {len(code.ops)} instructions, {executed} executed, printed {printed}")


if __name__ == "__main__":
    main()
