/*
 * Guesses the missing panes of church windows: a bank of filters over each pane's surroundings and a small network
 * for its colour, forward and backward, in one thread.
 *
 * Clean: each step has a window of the same size, and the buffers are made once.
 * Truth: time of choosing the window and of moving the weights, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

template <int Side, int Bank, int Reach> struct Window {
	static constexpr int inner = Side - Reach + 1;
	using Glass = std::array<float, Side * Side>;

	std::vector<Glass> church;
	std::array<float, Bank * Reach * Reach> kernel, kernel_change;
	std::array<float, 3 * Bank> colour, colour_change;
	std::vector<float> answer, blame;

	Window() : church(6), answer(Bank * inner * inner), blame(Bank * inner * inner)
	{
		for (size_t w = 0; w < church.size(); w++)
			for (int i = 0; i < Side * Side; i++)
				church[w][i] = 0.6f + 0.4f * std::sin(0.07f * (float)(i % Side * (w + 1)) + 0.11f * (float)(i / Side));
		for (size_t i = 0; i < kernel.size(); i++)
			kernel[i] = 0.2f * std::sin((float)(i * 11 + 1));
		for (size_t i = 0; i < colour.size(); i++)
			colour[i] = 0.3f * std::cos((float)(i * 5 + 2));
	}

	void filter(const Glass &glass)
	{
		for (int b = 0; b < Bank; b++)
			for (int y = 0; y < inner; y++) {
				float *out = &answer[(b * inner + y) * inner];
				for (int x = 0; x < inner; x++)
					out[x] = 0.1f;
				for (int j = 0; j < Reach; j++)
					for (int i = 0; i < Reach; i++) {
						const float k = kernel[(b * Reach + j) * Reach + i];
						const float *in = &glass[(y + j) * Side + i];
						for (int x = 0; x < inner; x++)
							out[x] += k * in[x];
					}
			}
	}

	float paint(const Glass &glass)
	{
		float loss = 0;
		colour_change.fill(0);
		for (int y = 0; y < inner; y++)
			for (int x = 0; x < inner; x++) {
				float wrong[3];
				const float middle = glass[(y + Reach / 2) * Side + x + Reach / 2];
				for (int c = 0; c < 3; c++) {
					float sum = 0;
					for (int b = 0; b < Bank; b++)
						sum += colour[c * Bank + b] * answer[(b * inner + y) * inner + x];
					wrong[c] = sum - middle * (0.3f + 0.3f * (float)c);
					loss += wrong[c] * wrong[c];
				}
				for (int b = 0; b < Bank; b++) {
					float d = 0;
					for (int c = 0; c < 3; c++) {
						colour_change[c * Bank + b] += wrong[c] * answer[(b * inner + y) * inner + x];
						d += wrong[c] * colour[c * Bank + b];
					}
					blame[(b * inner + y) * inner + x] = d;
				}
			}
		return loss / (inner * inner);
	}

	void trace_back(const Glass &glass)
	{
		for (int b = 0; b < Bank; b++)
			for (int j = 0; j < Reach; j++)
				for (int i = 0; i < Reach; i++) {
					float sum[4] = {};
					for (int y = 0; y < inner; y++) {
						const float *d = &blame[(b * inner + y) * inner], *in = &glass[(y + j) * Side + i];
						for (int x = 0; x + 4 <= inner; x += 4)
							for (int k = 0; k < 4; k++)
								sum[k] += d[x + k] * in[x + k];
					}
					kernel_change[(b * Reach + j) * Reach + i] = sum[0] + sum[1] + sum[2] + sum[3];
				}
	}

	void move(float rate)
	{
		const float scale = rate / (inner * inner);
		for (size_t i = 0; i < kernel.size(); i++)
			kernel[i] -= scale * kernel_change[i];
		for (size_t i = 0; i < colour.size(); i++)
			colour[i] -= scale * colour_change[i];
	}
};

int main()
{
	static Window<132, 12, 5> window;
	watch watch;
	float loss = 0;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		const auto &glass = window.church[(size_t)watch.steps % window.church.size()];
		planted_end(&watch);
		{
			DWELL_ZONE("filter");
			window.filter(glass);
		}
		{
			DWELL_ZONE("paint");
			loss = window.paint(glass);
		}
		{
			DWELL_ZONE("trace back");
			window.trace_back(glass);
		}
		planted_begin(&watch);
		window.move(1e-4f);
		planted_end(&watch);
	}
	watch_tell(&watch);
	std::printf("loss %.4f\n", (double)loss);
}
