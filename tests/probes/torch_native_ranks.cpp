/*
 * One of two ranks of a program on LibTorch, without Python; built and started by torch_native_test.py.
 *
 * usage: torch_native_ranks RANK FOLDER [reducer]
 *
 * Trains with gloo: the ranks average each gradient, rank 1 sleeps before. With `reducer`, the reducer of
 * DistributedDataParallel averages them in the backward. Its last line is JSON: for each collective its calls and their bytes;
 * the steps; and how long each of its waits took by its own clock.
 */
#include <torch/torch.h>

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#if TORCH_VERSION_MAJOR >= 2 /* Debian's 1.13 lacks a header of it */
#include <torch/csrc/distributed/c10d/reducer.hpp>
#endif
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

/* Rank 1 is so late in each step, by its sleep; a machine that is busy with other programs makes both ranks late. */
static constexpr int late_us = 20000;
static constexpr int steps = 30, ranks = 2;
static std::map<std::string, std::pair<long, long>> counts;
static std::vector<long> waits_ns;

static void wait_for(const c10::intrusive_ptr<c10d::Work> &work)
{
	auto begun = std::chrono::steady_clock::now();

	work->wait();
	waits_ns.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begun).count());
}

static void count(const char *name, long bytes)
{
	counts[name].first++;
	counts[name].second += bytes;
}

static c10::intrusive_ptr<c10d::ProcessGroupGloo> make_group(const c10::intrusive_ptr<c10d::Store> &store, int rank)
{
	auto options = c10d::ProcessGroupGloo::Options::create();

	options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
	return c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, ranks, options);
}

#if TORCH_VERSION_MAJOR >= 2
/* A group as torch.distributed makes it: its methods call operators, and these the backend. */
static c10::intrusive_ptr<c10d::ProcessGroup> through_operators(const c10::intrusive_ptr<c10d::ProcessGroupGloo> &backend,
                                                                const c10::intrusive_ptr<c10d::Store> &store, int rank)
{
	auto group = c10::make_intrusive<c10d::ProcessGroup>(store, rank, ranks);

	group->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::BackendType::GLOO, backend);
	return group;
}
#else
static auto through_operators(const c10::intrusive_ptr<c10d::ProcessGroupGloo> &backend,
                              const c10::intrusive_ptr<c10d::Store> &, int)
{
	return backend;
}
#endif

#if TORCH_VERSION_MAJOR >= 2
static void train_with_reducer(torch::nn::Linear &model, torch::optim::SGD &optimizer,
                               const c10::intrusive_ptr<c10d::ProcessGroup> &group, int rank)
{
	c10d::Reducer reducer(model->parameters(), { { 0, 1 } }, group, { false, false }, 1 << 20, false, false, {}, 1 << 20, false, false,
	                      {});

	for (int step = 0; step < steps; step++) {
		optimizer.zero_grad();
		auto loss = model->forward(torch::randn({ 16, 64 })).square().mean();
		reducer.prepare_for_backward({});
		if (rank == 1)
			usleep(late_us);
		count("all_reduce", (64 * 32 + 32) * sizeof(float));
		loss.backward();
		optimizer.step();
	}
}
#endif

static int report()
{
	const char *comma = "";

	std::printf("{\"steps\": %d, \"waits_ns\": [", steps);
	for (long wait : waits_ns) {
		std::printf("%s%ld", comma, wait);
		comma = ", ";
	}
	std::printf("], \"collectives\": {");
	comma = "";
	for (auto &entry : counts) {
		std::printf("%s\"%s\": [%ld, %ld]", comma, entry.first.c_str(), entry.second.first, entry.second.second);
		comma = ", ";
	}
	std::printf("}}\n");
	return 0;
}

int main(int argc, char **argv)
{
	int rank = std::atoi(argv[1]);
	c10::intrusive_ptr<c10d::Store> file = c10::make_intrusive<c10d::FileStore>(std::string(argv[2]) + "/store", ranks);
	auto gradients = make_group(c10::make_intrusive<c10d::PrefixStore>("gradients", file), rank);
	auto others = make_group(c10::make_intrusive<c10d::PrefixStore>("others", file), rank);
	torch::nn::Linear model(64, 32);
	torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1));

	auto through = through_operators(gradients, file, rank);

#if TORCH_VERSION_MAJOR >= 2
	if (argc > 3) {
		train_with_reducer(model, optimizer, through, rank);
		return report();
	}
#endif
	for (int step = 0; step < steps; step++) {
		optimizer.zero_grad();
		auto loss = model->forward(torch::randn({ 16, 64 })).square().mean();
		loss.backward();
		if (rank == 1)
			usleep(late_us);
		for (auto &parameter : model->parameters()) {
			std::vector<torch::Tensor> tensors = { parameter.grad() };
			count("all_reduce", parameter.grad().nbytes());
			wait_for(step % 2 ? through->allreduce(tensors) : gradients->allreduce(tensors));
			parameter.grad().div_(ranks);
		}
		std::vector<torch::Tensor> mine = { torch::ones({ 5, 3 }) };
		std::vector<std::vector<torch::Tensor>> all = { { torch::empty({ 5, 3 }), torch::empty({ 5, 3 }) } };
		count("all_gather", ranks * mine[0].nbytes());
		wait_for(others->allgather(all, mine));
		count("broadcast", mine[0].nbytes());
		wait_for(others->broadcast(mine));
		count("barrier", 0);
		wait_for(others->barrier());
		count(rank ? "recv" : "send", mine[0].nbytes());
		wait_for(rank ? others->recv(mine, 0, 7) : others->send(mine, 1, 7));
		optimizer.step();
	}
	std::vector<torch::Tensor> mine = { torch::ones({ 5 }) };
	/* Of two ranks: no collective. */
	wait_for(rank ? others->send(mine, 0, 7) : others->recv(mine, 1, 7));
	return report();
}
