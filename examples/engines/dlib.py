#!/usr/bin/env python3
"""dlib's networks, of Debian's headers, trained on random pictures by a program that this script writes. Steps: --step-on a batch."""
import os
import re

from engine import Engine, run

engine = Engine("dlib")
with open(os.path.join(engine.folder, "train.cpp"), "w", encoding="ascii") as file:
    file.write("""#include <chrono>
#include <dlib/dnn.h>
#include <iostream>
using namespace dlib;
using net_type = loss_multiclass_log<fc<10, relu<fc<84, relu<fc<120, max_pool<2, 2, 2, 2, relu<con<16, 5, 5, 1, 1,
                 max_pool<2, 2, 2, 2, relu<con<6, 5, 5, 1, 1, input<matrix<unsigned char>>>>>>>>>>>>>>;
int main()
{
	net_type net;
	dnn_trainer<net_type> trainer(net);
	dlib::rand chance;
	std::vector<matrix<unsigned char>> pictures(64, matrix<unsigned char>(28, 28));
	std::vector<unsigned long> labels;
	for (auto &picture : pictures) {
		for (auto &pixel : picture)
			pixel = chance.get_random_8bit_number();
		labels.push_back(chance.get_random_32bit_number() % 10);
	}
	trainer.set_mini_batch_size(64);
	auto begun = std::chrono::steady_clock::now();
	for (int step = 0; step < 200; step++)
		trainer.train_one_step(pictures, labels);
	trainer.get_net();
	std::cout << "took " << std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count() << " ms, "
	          << trainer.get_train_one_step_calls() << " steps\\n";
}
""")
run("c++", "-O2", "-std=c++14", "train.cpp", "-o", "train", "-ldlib", folder=engine.folder)
engine.count("dnn_trainer::train_one_step", "./train", calls=lambda said: int(re.search(r"(\d+) steps", said).group(1)),
             own_ms=lambda said: float(re.search(r"took ([\d.]+) ms", said).group(1)))
