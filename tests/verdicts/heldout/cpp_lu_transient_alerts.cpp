/*
 * Is an alert of a sky survey a real transient? Each alert is matched with a catalogue by its place, and a small network over the cut-out
 * and the neighbours is taught.
 *
 * Planted: every 22nd batch of alerts adds a few objects to the catalogue, which is then sorted anew as a whole.
 * Truth: time of sorting, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

struct Object {
	double ascension, declination;
	float brightness;
	uint32_t number;
};

class Catalogue {
public:
	explicit Catalogue(size_t count)
	{
		std::uniform_real_distribution<double> all(0, 360);
		for (size_t i = 0; i < count; i++)
			objects_.push_back({all(dice_), all(dice_) / 4 - 45, static_cast<float>(all(dice_)), static_cast<uint32_t>(i)});
		order();
	}

	void add(double ascension, double declination)
	{
		/* the oldest entry makes room */
		objects_[dice_() % objects_.size()] = {ascension, declination, 1, static_cast<uint32_t>(dice_())};
		added_++;
	}

	bool stale() const { return added_ >= 22; }

	void order()
	{
		std::shuffle(objects_.begin(), objects_.begin() + static_cast<long>(objects_.size() / 3), dice_); /* as they arrived */
		std::stable_sort(objects_.begin(), objects_.end(),
		                 [](const Object &a, const Object &b) { return a.ascension < b.ascension; });
		added_ = 0;
	}

	float near(double ascension, double declination) const
	{
		auto at = std::lower_bound(objects_.begin(), objects_.end(), ascension,
		                           [](const Object &a, double to) { return a.ascension < to; });
		float sum = 0;
		for (int i = 0; i < 8 && at != objects_.end(); i++, ++at)
			sum += at->brightness / (1 + static_cast<float>(std::fabs(at->declination - declination)));
		return sum / 400;
	}

private:
	std::mt19937 dice_{3};
	std::vector<Object> objects_;
	int added_ = 0;
};

template <int In, int Out> struct Dense {
	float weight[In][Out];

	Dense()
	{
		for (int i = 0; i < In; i++)
			for (int o = 0; o < Out; o++)
				weight[i][o] = std::sin(static_cast<float>(i * 13 + o * 7)) / std::sqrt(static_cast<float>(In));
	}

	void forward(const float *x, float *y) const
	{
		std::fill(y, y + Out, 0.f);
		for (int i = 0; i < In; i++)
			for (int o = 0; o < Out; o++)
				y[o] += x[i] * weight[i][o];
	}

	void backward(const float *x, const float *dy, float *dx, float rate)
	{
		for (int i = 0; i < In; i++) {
			float sum = 0;
			for (int o = 0; o < Out; o++) {
				if (dx)
					sum += dy[o] * weight[i][o];
				weight[i][o] -= rate * dy[o] * x[i];
			}
			if (dx)
				dx[i] = sum;
		}
	}
};

constexpr int kPixels = 24 * 24, kWide = 128, kAlerts = 64;

class Broker {
public:
	Broker() : catalogue_(420000) {}

	float batch(int number, watch &clock)
	{
		float loss = 0;
		for (int a = 0; a < kAlerts; a++) {
			const double ascension = std::fmod(number * 7.31 + a * 5.17, 360), declination = std::fmod(a * 3.7, 80) - 40;
			float cutout[kPixels + 1], hidden[kWide], act[kWide], said[1], blame[kWide], slope[1];
			for (int p = 0; p < kPixels; p++)
				cutout[p] = 0.5f + 0.5f * static_cast<float>(((p + a) * 2654435761u >> 20) & 1023) / 1024;
			cutout[kPixels] = catalogue_.near(ascension, declination);
			in_.forward(cutout, hidden);
			for (int w = 0; w < kWide; w++)
				act[w] = std::tanh(hidden[w]);
			out_.forward(act, said);
			slope[0] = said[0] - (a % 3 ? 0.f : 1.f);
			out_.backward(act, slope, blame, 1e-4f);
			for (int w = 0; w < kWide; w++)
				blame[w] *= 1 - act[w] * act[w];
			in_.backward(cutout, blame, nullptr, 1e-4f);
			loss += slope[0] * slope[0];
		}
		catalogue_.add(std::fmod(number * 11.3, 360), 0);
		if (catalogue_.stale()) {
			planted_begin(&clock);
			catalogue_.order();
			planted_end(&clock);
		}
		return loss / kAlerts;
	}

private:
	Catalogue catalogue_;
	Dense<kPixels + 1, kWide> in_;
	Dense<kWide, 1> out_;
};

int main()
{
	auto broker = std::make_unique<Broker>();
	watch clock;
	float loss = 0;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6.2; clock.steps++) {
		DWELL_STEP();
		DWELL_ZONE("alerts");
		loss = broker->batch(clock.steps, clock);
	}
	watch_tell(&clock);
	std::printf("loss %.4f\n", static_cast<double>(loss));
}
