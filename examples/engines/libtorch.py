#!/usr/bin/env python3
"""Three of LibTorch's examples in C++, with random pictures: regression, mnist and dcgan (two models and optimizers).

Nothing is marked. They have no timer: this script adds one around what their authors call a step, and makes two of them
shorter. ENGINES_PYTHON is a Python with PyTorch (an environment that the script makes).
"""
import os
import random
import struct

from engine import Engine, run, venv

MNIST_BATCHES, DCGAN_BATCHES = 300, 30
WHERE = """
import os, torch
folder = os.path.dirname(torch.__file__)
print(folder, int(torch.compiled_with_cxx11_abi()))
"""
NOW = "std::chrono::steady_clock::now()"
SAY = f"""
    std::printf("took %f ms\\n", std::chrono::duration<double, std::milli>({NOW} - begun).count());
"""
torch, new_strings = run(os.environ.get("ENGINES_PYTHON") or venv("torch"), "-c", WHERE).split()


def example(name):
    engine = Engine(f"libtorch-{name}", "https://github.com/pytorch/examples", "77f55b912142e11fcfdf5b530231fb9c52f181e8",
                    ["cpp"])
    engine.source = f"cpp/{name}/{name}.cpp"
    engine.change(engine.source, "#include <torch/torch.h>\n", "#include <torch/torch.h>\n#include <chrono>\n#include <cstdio>\n")
    return engine


def build_and_check(engine, *flags):
    run("c++", "-O2", "-std=c++17", "-w", f"-D_GLIBCXX_USE_CXX11_ABI={new_strings}", engine.source, "-o", "example",
        "-I", f"{torch}/include", "-I", f"{torch}/include/torch/csrc/api/include", *flags, "-L", f"{torch}/lib",
        "-Xlinker", f"-rpath={torch}/lib", "-ltorch", "-ltorch_cpu", "-lc10", "-pthread", folder=engine.folder)
    engine.check("./example", options=["--cost", "0.5%"], OMP_NUM_THREADS="1")


def write_pictures(engine):
    rng = random.Random(1)
    folder = os.path.join(engine.folder, "data")
    os.makedirs(folder)
    for part, count in (("train", 60000), ("t10k", 10000)):
        with open(os.path.join(folder, f"{part}-images-idx3-ubyte"), "wb") as file:
            file.write(struct.pack(">IIII", 2051, count, 28, 28))
            for _ in range(count // 1000):
                file.write(rng.randbytes(784000))
        with open(os.path.join(folder, f"{part}-labels-idx1-ubyte"), "wb") as file:
            file.write(struct.pack(">II", 2049, count) + bytes(rng.randrange(10) for _ in range(count)))


mnist = example("mnist")
write_pictures(mnist)
mnist.change(mnist.source, "kNumberOfEpochs = 10;", "kNumberOfEpochs = 1;")
mnist.change(mnist.source, "  for (auto& batch : data_loader) {\n", f"  auto begun = {NOW};\n  for (auto& batch : data_loader) {{\n")
mnist.change(mnist.source, "    optimizer.step();\n", f"    optimizer.step();{SAY}    if (batch_idx + 1 == {MNIST_BATCHES}) break;\n")
mnist.change(mnist.source, "          loss.template item<float>());\n    }\n",
             f"          loss.template item<float>());\n    }}\n    begun = {NOW};\n")
build_and_check(mnist)

dcgan, argparse = example("dcgan"), Engine("argparse", "https://github.com/p-ranav/argparse",
                                           "d924b84eba1f0f0adf38b20b7b4829f6f65b6570")
write_pictures(dcgan)
dcgan.change(dcgan.source, "      discriminator->zero_grad();\n", f"      auto begun = {NOW};\n      discriminator->zero_grad();\n")
dcgan.change(dcgan.source, "      generator_optimizer.step();\n", f"      generator_optimizer.step();{SAY}")
dcgan.change(dcgan.source, "      batch_index++;\n", f"      if (++batch_index == {DCGAN_BATCHES}) return 0;\n")
build_and_check(dcgan, "-I", f"{argparse.folder}/include")

# The last one: its steps are the shortest, so that its times differ most.
regression = example("regression")
regression.change(regression.source, "    optim.zero_grad();\n", f"    auto begun = {NOW};\n    optim.zero_grad();\n")
regression.change(regression.source, "    optim.step();\n", f"    optim.step();{SAY}")
build_and_check(regression)
