/*
 * A CUDA program with dwell's probes: steps with copies, kernels on two streams, an event and a graph.
 *
 *   dwell ./cuda_example
 *   dwell report --view device cuda_example.dwell
 *   dwell report --view kernels cuda_example.dwell
 *
 * The probes mark steps and operators. What the device does is recorded without any: the report shows which
 * operator each kernel belongs to, and which stream waits for which.
 */
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#include <dwell/probe.h>

#define SIZE 512
#define STEPS 20
#define REPLAYS 4

static void check(cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
	exit(1);
}
#define CHECK(call) check(call, #call)

/* c = a * b for square matrices */
__global__ void matmul(const float *a, const float *b, float *c, int size)
{
	int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (row >= size || column >= size)
		return;
	for (int i = 0; i < size; i++)
		sum += a[row * size + i] * b[i * size + column];
	c[row * size + column] = sum;
}

__global__ void relu(float *values, int count)
{
	int at = blockIdx.x * blockDim.x + threadIdx.x;

	if (at < count && values[at] < 0)
		values[at] = 0;
}

struct work {
	std::vector<float> host;
	float *input, *weights, *output;
	cudaStream_t compute, copies;
	cudaEvent_t copied;
	cudaGraphExec_t graph;
};

static void launch(work *work)
{
	dim3 block(16, 16), grid(SIZE / 16, SIZE / 16);

	matmul<<<grid, block, 0, work->compute>>>(work->input, work->weights, work->output, SIZE);
	relu<<<SIZE * SIZE / 256, 256, 0, work->compute>>>(work->output, SIZE * SIZE);
}

static void prepare(work *work)
{
	size_t bytes = SIZE * SIZE * sizeof(float);
	cudaGraph_t captured;

	work->host.assign(SIZE * SIZE, 0.5f);
	CHECK(cudaHostRegister(work->host.data(), bytes, cudaHostRegisterDefault));
	CHECK(cudaMalloc(&work->input, bytes));
	CHECK(cudaMalloc(&work->weights, bytes));
	CHECK(cudaMalloc(&work->output, bytes));
	CHECK(cudaMemset(work->weights, 0, bytes));
	CHECK(cudaStreamCreateWithFlags(&work->compute, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&work->copies, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&work->copied, cudaEventDisableTiming));
	CHECK(cudaStreamBeginCapture(work->compute, cudaStreamCaptureModeThreadLocal));
	launch(work);
	CHECK(cudaStreamEndCapture(work->compute, &captured));
	CHECK(cudaGraphInstantiateWithFlags(&work->graph, captured, 0));
	CHECK(cudaGraphDestroy(captured));
}

static void step(work *work)
{
	DWELL_STEP();
	{
		DWELL_OP("copy in");
		CHECK(cudaMemcpyAsync(work->input, work->host.data(), work->host.size() * sizeof(float),
		                      cudaMemcpyHostToDevice, work->copies));
		CHECK(cudaEventRecord(work->copied, work->copies));
		CHECK(cudaStreamWaitEvent(work->compute, work->copied, 0));
	}
	{
		DWELL_OP("layer");
		launch(work);
		CHECK(cudaGetLastError());
	}
	{
		DWELL_OP("layers of a graph");
		for (int i = 0; i < REPLAYS; i++)
			CHECK(cudaGraphLaunch(work->graph, work->compute));
	}
	{
		DWELL_OP("wait");
		CHECK(cudaStreamSynchronize(work->compute));
	}
}

int main()
{
	work work = {};
	int devices = 0;

	if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
		fprintf(stderr, "there is no NVIDIA device here\n");
		return 77;
	}
	prepare(&work);
	for (int i = 0; i < STEPS; i++)
		step(&work);
	printf("%d steps, %d kernels\n", STEPS, STEPS * 2 * (1 + REPLAYS));
	CHECK(cudaDeviceSynchronize());
	return 0;
}
