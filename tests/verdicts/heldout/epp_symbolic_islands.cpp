/*
 * Searches formulas for the drag of a hull by genetic programming: two threads try the formulas on all measurements, then
 * the better ones are bred and the constants of the best one are tuned.
 *
 * Planted: the population is kept in the order of its formulas' lengths, and each thread tries one half of it: the loop's
 * thread has the short ones and waits at the barrier for the other thread.
 * Truth: time that the loop waits at the barrier, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

namespace {

const int kFormulas = 160, kPoints = 600, kInputs = 5, kTuneNodes = 3600;

struct Node {
	char kind; // 'x' input, 'c' constant, + - * and 't' tanh
	int input;
	float constant;
};

using Formula = std::vector<Node>; // in postfix order

struct Member {
	Formula formula;
	float error = 0;
};

float measured[kPoints][kInputs], drag[kPoints];
std::mt19937 dice(71);

Formula grow(int operators)
{
	Formula formula;
	auto leaf = [&] { formula.push_back({dice() % 3 ? 'x' : 'c', static_cast<int>(dice() % kInputs), 0.25f * static_cast<float>(dice() % 9)}); };
	leaf();
	for (int at = 0; at < operators; at++) {
		leaf();
		formula.push_back({"+-*"[dice() % 3], 0, 0});
		if (dice() % 4 == 0)
			formula.push_back({'t', 0, 0});
	}
	return formula;
}

float error_of(const Formula &formula)
{
	float sum = 0, stack[8];
	for (int point = 0; point < kPoints; point++) {
		int top = 0;
		for (const Node &node : formula)
			switch (node.kind) {
			case 'x': stack[top++] = measured[point][node.input]; break;
			case 'c': stack[top++] = node.constant; break;
			case 't': stack[top - 1] = stack[top - 1] / (1 + std::fabs(stack[top - 1])); break;
			case '+': top--, stack[top - 1] += stack[top]; break;
			case '-': top--, stack[top - 1] -= stack[top]; break;
			default: top--, stack[top - 1] *= stack[top];
			}
		sum += std::min(100.0f, std::fabs(stack[0] - drag[point]));
	}
	return sum / kPoints;
}

void try_half(std::vector<Member> &members, size_t from, size_t to)
{
	DWELL_ZONE("try formulas");
	for (size_t at = from; at < to; at++)
		members[at].error = error_of(members[at].formula);
}

void breed(std::vector<Member> &members)
{
	DWELL_ZONE("breed");
	std::sort(members.begin(), members.end(), [](const Member &one, const Member &other) { return one.error < other.error; });
	for (size_t at = kFormulas / 2; at < members.size(); at++) {
		int operators = 2 + static_cast<int>((at - kFormulas / 2) * 2 / 3);
		members[at].formula = grow(operators);
		const Formula &parent = members[dice() % (kFormulas / 2)].formula;
		for (size_t node = 0; node < std::min(parent.size(), members[at].formula.size()); node++)
			if (parent[node].kind == members[at].formula[node].kind)
				members[at].formula[node] = parent[node];
	}
}

void tune(Member &best)
{
	DWELL_ZONE("tune constants");
	for (size_t tried = 0; tried < kTuneNodes; tried += best.formula.size()) {
		Formula other = best.formula;
		for (Node &node : other)
			node.constant += 0.02f * static_cast<float>(static_cast<int>(dice() % 11) - 5);
		float error = error_of(other);
		if (error < best.error)
			best.formula = other, best.error = error;
	}
}

} // namespace

int main()
{
	std::vector<Member> members(kFormulas);
	std::atomic<bool> over{false};
	pthread_barrier_t start, done;
	struct watch watch;
	for (int point = 0; point < kPoints; point++) {
		for (float &value : measured[point])
			value = static_cast<float>(dice() % 1000) / 500 - 1;
		drag[point] = measured[point][0] * measured[point][0] + 0.5f * std::tanh(measured[point][1] * 3) - measured[point][2];
	}
	for (int at = 0; at < kFormulas; at++)
		members[at].formula = grow(2 + at / 3);
	pthread_barrier_init(&start, nullptr, 2);
	pthread_barrier_init(&done, nullptr, 2);
	std::thread helper([&] {
		for (pthread_barrier_wait(&start); !over; pthread_barrier_wait(&start)) {
			try_half(members, kFormulas / 2, kFormulas);
			pthread_barrier_wait(&done);
		}
	});
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		std::sort(members.begin(), members.end(), [](const Member &one, const Member &other) { return one.formula.size() < other.formula.size(); });
		pthread_barrier_wait(&start);
		try_half(members, 0, kFormulas / 2);
		planted_begin(&watch);
		pthread_barrier_wait(&done);
		planted_end(&watch);
		breed(members);
		tune(members[0]);
	}
	watch_tell(&watch);
	over = true;
	pthread_barrier_wait(&start);
	helper.join();
	fprintf(stderr, "error %.3f\n", static_cast<double>(members[0].error));
}
