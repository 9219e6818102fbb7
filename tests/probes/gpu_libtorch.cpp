/* A training in C++ on LibTorch, on a GPU if there is one, for tools/measure/gpu_check; without probes. Prints "steps NUMBER". */
#include <torch/torch.h>

#include <cstdio>

int main()
{
	torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
	torch::nn::Sequential net(torch::nn::Linear(1024, 2048), torch::nn::ReLU(), torch::nn::Linear(2048, 10));
	torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01));
	int steps = 0;

	net->to(device);
	for (; steps < 40; steps++) {
		auto input = torch::randn({256, 1024}, device);

		optimizer.zero_grad();
		net->forward(input).square().mean().backward();
		optimizer.step();
	}
	if (device.is_cuda())
		torch::cuda::synchronize();
	std::printf("steps %d\n", steps);
	return 0;
}
