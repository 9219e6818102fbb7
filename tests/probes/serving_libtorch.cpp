/*
 * A server on LibTorch that marks nothing, for tools/measure/serving: a small language model whose tokens are sent as chunks of
 * HTTP. It prints its port, and at GET /stop its own log, a line for each request: ns from its first bytes to the last chunk, and to the
 * first one.
 */
#include <torch/torch.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

static std::mutex lock;
static std::vector<std::pair<long long, long long>> own;

static long long now()
{
	return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Model : torch::nn::Module {
	torch::nn::Embedding words{nullptr};
	torch::nn::GRU layers{nullptr};
	torch::nn::Linear head{nullptr};

	Model()
	{
		words = register_module("words", torch::nn::Embedding(512, 256));
		layers = register_module("layers", torch::nn::GRU(torch::nn::GRUOptions(256, 256).num_layers(4).batch_first(true)));
		head = register_module("head", torch::nn::Linear(256, 512));
	}
};

static void answer(Model &model, int to, long prompt, long tokens, long long began)
{
	static const char begins[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
	torch::NoGradGuard guard;
	torch::Tensor next = torch::randint(512, {1, prompt}, torch::kLong), state = torch::zeros({4, 1, 256});
	long long first = 0;

	send(to, begins, sizeof begins - 1, MSG_NOSIGNAL);
	for (long i = 0; i < tokens; i++) {
		auto [out, kept] = model.layers->forward(model.words->forward(next), state);
		char chunk[64];

		state = kept;
		next = model.head->forward(out.select(1, -1)).argmax(-1, true);
		std::string text = "w" + std::to_string(next.item<long>());
		int bytes = snprintf(chunk, sizeof chunk, "%zx\r\n%s\r\n%s", text.size(), text.c_str(), i + 1 == tokens ? "0\r\n\r\n" : "");
		send(to, chunk, (size_t)bytes, MSG_NOSIGNAL);
		first = first ? first : now();
	}
	std::lock_guard<std::mutex> held(lock);
	own.emplace_back(now() - began, first - began);
}

static void serve(Model &model, int to)
{
	std::string got;
	char part[4096];
	long long began = 0;
	ssize_t bytes;

	while ((bytes = recv(to, part, sizeof part, 0)) > 0) {
		began = got.empty() ? now() : began;
		got.append(part, (size_t)bytes);
		if (got.find("\r\n\r\n") == std::string::npos)
			continue;
		if (got.compare(0, 9, "GET /stop") == 0) {
			std::lock_guard<std::mutex> held(lock);

			for (auto &line : own)
				printf("%lld %lld\n", line.first, line.second);
			exit(0);
		}
		long prompt = 1, tokens = 1;
		const char *numbers = strstr(got.c_str(), "numbers=");

		if (numbers)
			sscanf(numbers, "numbers=%ld,%ld", &prompt, &tokens);
		answer(model, to, prompt, tokens, began);
		got.clear();
	}
	close(to);
}

int main()
{
	sockaddr_in at = {};
	socklen_t bytes = sizeof at;
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	Model model;

	at::set_num_threads(1);
	at.sin_family = AF_INET;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (sockaddr *)&at, sizeof at) || listen(listener, 64) || getsockname(listener, (sockaddr *)&at, &bytes))
		return 1;
	printf("%d\n", ntohs(at.sin_port));
	fflush(stdout);
	for (int to; (to = accept(listener, nullptr, nullptr)) >= 0;)
		std::thread(serve, std::ref(model), to).detach();
}
