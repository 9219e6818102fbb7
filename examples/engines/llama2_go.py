#!/usr/bin/env python3
"""A port of llama2.c to Go with the same random weights. Functions of Go have no room for --step-on: it marks its steps by cgo."""
from engine import Engine, run
from llama2_model import TOKENS, generated_ms, write

engine = Engine("llama2.go", "https://github.com/nikolaydubina/llama2.go", "836881ddaeb0d96d8c11efe3cd59dbc5a8ea15d2")
write(engine.folder)
engine.change("main.go", 'package main\n', """package main

// #include <dwell/probe.h>
// static void step(void) { DWELL_STEP(); }
import "C"
import "runtime"
""", marks=True)
engine.change("main.go", "\tfor pos < steps {\n", "\truntime.LockOSThread()\n\tfor pos < steps {\n\t\tC.step()\n", marks=True)
engine.change("main.go", '\tlog.Printf("achieved', '\tC.step()\n\tlog.Printf("achieved', marks=True)
# What Go 1.19 does not have.
engine.change("exp/nnfast/nn.go", "\ttype PI struct {\n\t\tprob  T\n\t\tindex int\n\t}\n", "")
engine.change("exp/nnfast/nn.go", "make([]PI, 0", "make([]PI[T], 0")
engine.change("exp/nnfast/nn.go", "PI{prob", "PI[T]{prob")
engine.change("exp/nnfast/nn.go", "// SampleTopP ", "type PI[T float32 | float64] struct {\n\tprob  T\n\tindex int\n}\n\n// SampleTopP ")
engine.change("llama2/transformer.go", "clear(s.XB[(h * headSize):((h + 1) * headSize)])",
              "part := s.XB[(h * headSize):((h + 1) * headSize)]\n\t\t\t\tfor i := range part {\n\t\t\t\t\tpart[i] = 0\n\t\t\t\t}")
run("go", "build", "-o", "run", ".", folder=engine.folder, CGO_CFLAGS=" ".join(engine.flags()[:-4]), CGO_LDFLAGS=" ".join(engine.flags()[1:]))
engine.count(None, "./run", "-checkpoint", "model.bin", "-temperature", "0", "-steps", str(TOKENS), calls=TOKENS, own_ms=generated_ms)
