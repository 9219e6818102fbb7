/*
 * A CUDA program without probes, for tools/measure/gpu_check: kernels of known length on two streams, copies, a graph.
 *
 *   gpu_plain        prints "spin NUMBER NS": how many kernels ran, and how long each one was made to last
 */
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                          \
	do {                                                                                                 \
		cudaError_t error = call;                                                                    \
		if (error != cudaSuccess) {                                                                  \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                       \
			exit(1);                                                                             \
		}                                                                                            \
	} while (0)

#define LENGTH 200000ULL /* ns */
#define STEPS 40
#define REPLAYS 5

__global__ void spin(unsigned long long length)
{
	unsigned long long start, now;

	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
	do {
		asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
	} while (now - start < length);
}

int main(void)
{
	size_t bytes = 16 << 20;
	cudaStream_t streams[2];
	cudaGraph_t captured;
	cudaGraphExec_t graph;
	void *host, *device;
	int kernels = 0;

	CHECK(cudaMallocHost(&host, bytes));
	CHECK(cudaMalloc(&device, bytes));
	for (int i = 0; i < 2; i++)
		CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
	for (int step = 0; step < STEPS; step++) {
		CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, streams[0]));
		for (int i = 0; i < 2; i++, kernels++)
			spin<<<1, 1, 0, streams[i]>>>(LENGTH);
		CHECK(cudaDeviceSynchronize());
	}
	CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 3; i++)
		spin<<<1, 1, 0, streams[0]>>>(LENGTH);
	CHECK(cudaStreamEndCapture(streams[0], &captured));
	CHECK(cudaGraphInstantiate(&graph, captured, NULL, NULL, 0));
	for (int i = 0; i < REPLAYS; i++, kernels += 3)
		CHECK(cudaGraphLaunch(graph, streams[0]));
	CHECK(cudaDeviceSynchronize());
	printf("spin %d %llu\n", kernels, LENGTH);
	return 0;
}
