/*
 * A program on LibTorch that counts by itself what dwell must record; built by torch_native_test.py.
 *
 * usage: torch_native_program train FILE | closure | manual | loader | script | zones | threads | throws | fork FILE
 *                             | profiler FILE | nothing | modules | asks | crowd
 *
 * Its last line is JSON: how often each operator began in its main part, as a callback of its own counts
 * them (profiler: as PyTorch's profiler does), the steps of its optimizer, its evaluations, and the bytes of its parameters.
 */
#include <ATen/record_function.h>
#include <sys/wait.h>
#include <torch/csrc/autograd/profiler.h>
#include <torch/script.h>
#include <torch/torch.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::mutex lock;
static std::map<std::string, long> counts;

static std::unique_ptr<at::ObserverContext> count(const at::RecordFunction &function)
{
	std::lock_guard<std::mutex> guard(lock);
	if (function.scope() != at::RecordScope::USER_SCOPE)
		counts[function.name()]++;
	return nullptr;
}

struct Block : torch::nn::Module {
	Block() : inner(register_module("inner", torch::nn::Linear(16, 16))) {}
	torch::Tensor forward(torch::Tensor x) { return torch::relu(inner->forward(x)); }
	torch::nn::Linear inner;
};

struct Net : torch::nn::Module {
	Net()
		: first(register_module("first", torch::nn::Linear(8, 16))), block(register_module("block", std::make_shared<Block>())),
		  rest(register_module("rest", torch::nn::Sequential(torch::nn::Dropout(0.5), torch::nn::Linear(16, 4))))
	{
	}
	torch::Tensor forward(torch::Tensor x) { return rest->forward(block->forward(torch::relu(first->forward(x)))); }
	torch::nn::Linear first;
	std::shared_ptr<Block> block;
	torch::nn::Sequential rest;
};

static long steps, evaluations;

static torch::Tensor loss_of(Net &net)
{
	return torch::cross_entropy_loss(net.forward(torch::randn({32, 8})), torch::randint(4, {32}, torch::kLong));
}

static void evaluate(Net &net)
{
	torch::NoGradGuard guard;
	net.eval();
	for (int i = 0; i < 3; i++)
		net.forward(torch::randn({32, 8})).argmax(1);
	net.train();
	evaluations++;
}

/* Two optimizers, one of them through its base class, evaluations and a checkpoint between. */
static void train(Net &net, long count)
{
	torch::optim::Adam adam(net.parameters(), torch::optim::AdamOptions(1e-3));
	torch::optim::Optimizer &optimizer = adam;

	for (long i = 0; i < count; i++) {
		optimizer.zero_grad();
		auto loss = loss_of(net);
		loss.backward();
		optimizer.step();
		steps++;
		if (i % 5 == 4)
			evaluate(net);
	}
}

static void train_with_closure(Net &net)
{
	torch::optim::LBFGS optimizer(net.parameters(), torch::optim::LBFGSOptions(0.1).max_iter(3));

	for (int i = 0; i < 4; i++, steps++)
		optimizer.step([&] {
			optimizer.zero_grad();
			auto loss = loss_of(net);
			loss.backward();
			return loss;
		});
}

static void update_by_hand(Net &net)
{
	for (int i = 0; i < 6; i++, steps++) {
		loss_of(net).backward();
		torch::NoGradGuard guard;
		for (auto &p : net.parameters()) {
			p.sub_(p.grad(), 0.01);
			p.grad().zero_();
		}
	}
}

/* A zone ends between the call of the model and its loss, another one begins there. */
static void train_in_zones(Net &net)
{
	torch::optim::SGD optimizer(net.parameters(), torch::optim::SGDOptions(0.1));

	for (int i = 0; i < 5; i++, steps++) {
		torch::Tensor out;

		optimizer.zero_grad();
		{
			RECORD_USER_SCOPE("scores");
			out = net.forward(torch::randn({32, 8}));
		}
		RECORD_USER_SCOPE("the rest");
		torch::cross_entropy_loss(out, torch::randint(4, {32}, torch::kLong)).backward();
		optimizer.step();
	}
}

/* A batch takes its thread 20 ms, and the loop little. */
struct Slow : torch::data::datasets::Dataset<Slow> {
	torch::data::Example<> get(size_t index) override
	{
		usleep(5000);
		return { torch::full({8}, static_cast<double>(index)), torch::zeros({}, torch::kLong) };
	}
	decltype(std::declval<const torch::data::datasets::MNIST &>().size()) size() const override { return 100; }
};

static long waited_us; /* the fastest of some runs */
static std::vector<long> waits_ns;

static void train_with_loader(Net &net)
{
	torch::optim::SGD optimizer(net.parameters(), torch::optim::SGDOptions(0.1));
	auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
	    Slow().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions().batch_size(4).workers(1).max_jobs(1));
	auto batch = loader->begin();

	while (batch != loader->end()) {
		optimizer.zero_grad();
		torch::cross_entropy_loss(net.forward(batch->data), batch->target).backward();
		optimizer.step();
		steps++;
		auto begun = std::chrono::steady_clock::now();
		++batch;
		waits_ns.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begun).count());
	}
}

static void infer_with_script()
{
	torch::NoGradGuard guard;
	torch::jit::Module module("Model");

	module.register_parameter("weight", torch::randn({8, 8}), false);
	module.define("def forward(self, x):\n    return torch.relu(torch.mm(x, self.weight))\n");
	for (int i = 0; i < 9; i++, steps++)
		module.forward({torch::randn({4, 8})});
}

/* Models without layers and without parameters, and what PyTorch refuses of them. */
struct Nothing : torch::nn::Module {
	torch::Tensor forward(torch::Tensor x) { return x * 2; }
};

static void train_nothing()
{
	Nothing nothing;
	torch::nn::Sequential empty;
	torch::nn::ModuleList list;
	torch::nn::Linear zero(3, 0);
	torch::optim::SGD none(nothing.parameters(), torch::optim::SGDOptions(0.1)), some(zero->parameters(), torch::optim::SGDOptions(0.1));

	for (int i = 0; i < 5; i++, steps++) {
		none.zero_grad();
		some.zero_grad();
		auto x = torch::ones({2, 2}, torch::requires_grad());
		(nothing.forward(x).sum() + zero->forward(torch::ones({2, 3})).sum()).backward();
		none.step();
		some.step();
	}
	empty->train();
	list->eval();
	try {
		empty->forward(torch::ones(1));
	} catch (const c10::Error &) {
		std::printf("an exception\n");
	}
}

/* More modules than have names. Each is called once. */
struct Many : torch::nn::Module {
	Many()
	{
		for (int i = 0; i < 40000; i++)
			all.push_back(register_module("m" + std::to_string(i), torch::nn::Identity()));
	}
	std::vector<torch::nn::Identity> all;
};

static void call_many_modules()
{
	auto x = torch::ones(1);

	for (int round = 0; round < 3; round++) {
		Many many;
		many.train();
		for (auto &module : many.all)
			module->forward(x);
	}
}

/* Programs that clip gradients ask in each step. waited_us: of the fastest of ten times a hundred calls. */
static void ask_for_parameters()
{
	torch::nn::Sequential model;

	for (int i = 0; i < 200; i++)
		model->push_back(torch::nn::Linear(2, 2));
	waited_us = 1000000000;
	for (int i = 0; i < 10; i++) {
		auto begun = std::chrono::steady_clock::now();
		for (int call = 0; call < 100; call++)
			model->parameters();
		waited_us = std::min<long>(waited_us, std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun).count());
	}
}

static void train_in_crowd()
{
	std::vector<std::thread> threads;
	std::mutex sums;

	for (int i = 0; i < 300; i++)
		threads.emplace_back([&] {
			Net own;
			torch::optim::SGD optimizer(own.parameters(), torch::optim::SGDOptions(0.1));
			for (int step = 0; step < 2; step++) {
				optimizer.zero_grad();
				loss_of(own).backward();
				optimizer.step();
				std::lock_guard<std::mutex> guard(sums);
				steps++;
			}
		});
	for (auto &thread : threads)
		thread.join();
}

/* ---- PyTorch's profiler --------------------------------------------------------------------------- */

using torch::profiler::impl::ActivityType;

static void begin_profile()
{
	torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);

	torch::autograd::profiler::prepareProfiler(config, { ActivityType::CPU });
	torch::autograd::profiler::enableProfiler(config, { ActivityType::CPU });
}

static void end_profile()
{
	auto result = torch::autograd::profiler::disableProfiler();

	for (auto &event : result->events())
		if (event.scope() != static_cast<uint8_t>(at::RecordScope::USER_SCOPE))
			counts[event.name()]++;
}

static int report(Net &net)
{
	long bytes = 0;

	for (auto &p : net.parameters())
		bytes += static_cast<long>(p.nbytes());
	std::printf("\n{\"steps\": %ld, \"evaluations\": %ld, \"parameters\": %ld, \"waited_us\": %ld, \"waits_ns\": [", steps, evaluations,
	            bytes, waited_us);
	const char *comma = "";
	for (long wait : waits_ns) {
		std::printf("%s%ld", comma, wait);
		comma = ", ";
	}
	std::printf("], \"operators\": {");
	comma = "";
	for (auto &entry : counts) {
		std::printf("%s\"%s\": %ld", comma, entry.first.c_str(), entry.second);
		comma = ", ";
	}
	std::printf("}}\n");
	std::fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	std::string what = argc > 1 ? argv[1] : "train";

	if (what == "fork") { /* before PyTorch is used */
		pid_t child = fork();
		int status = 1;

		if (child) {
			waitpid(child, &status, 0);
			return status != 0;
		}
	}
	bool profiles = what == "profiler";
	at::CallbackHandle handle = 0;
	if (profiles)
		begin_profile();
	else
		handle = at::addGlobalCallback(at::RecordFunctionCallback(count));
	Net net;
	if (what == "closure") {
		train_with_closure(net);
	} else if (what == "script") {
		infer_with_script();
	} else if (what == "zones") {
		train_in_zones(net);
	} else if (what == "loader") {
		train_with_loader(net);
	} else if (what == "manual") {
		update_by_hand(net);
	} else if (what == "nothing") {
		train_nothing();
	} else if (what == "modules") {
		call_many_modules();
	} else if (what == "asks") {
		ask_for_parameters();
	} else if (what == "crowd") {
		train_in_crowd();
	} else if (what == "threads") {
		std::thread other([] {
			Net own;
			train(own, 7);
		});
		other.join();
		train(net, 8);
	} else if (what == "throws") {
		train(net, 3);
		try {
			net.first->forward(torch::randn({3, 3}));
		} catch (const c10::Error &) {
			std::printf("an exception\n");
		}
		train(net, 4);
	} else {
		train(net, 10);
		torch::save(net.first, std::string(argv[2]));
		train(net, 10);
	}
	if (profiles)
		end_profile();
	else
		at::removeCallback(handle);
	return report(net);
}
