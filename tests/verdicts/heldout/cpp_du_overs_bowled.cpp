// Where the next ball will pitch: a mixture network over the last deliveries of a bowler, trained ball by ball in small batches from a
// season of cricket.
//
// Planted: each fourteenth step the form table is made anew: all deliveries of the season are sorted by the bowler's name and the over as text.
// Truth: time of making the table, as a share of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int Past = 32, Units = 200, Zones = 25, Batch = 64, Season = 12000;

struct Delivery {
	int bowler, over, zone;
	float speed;
};

class Net {
public:
	explicit Net(unsigned seed)
	{
		std::mt19937 dice(seed);
		std::uniform_real_distribution<float> small(-0.2f, 0.2f);
		first_.resize(Units * Past);
		second_.resize(Units * Units);
		third_.resize(Zones * Units);
		for (auto *layer : {&first_, &second_, &third_})
			for (float &w : *layer)
				w = small(dice);
	}
	float learn(const float *past, int zone)
	{
		std::array<float, Units> a, b, gb{}, ga{};
		std::array<float, Zones> c;
		forward(first_, past, a.data(), Past, Units, true);
		forward(second_, a.data(), b.data(), Units, Units, true);
		forward(third_, b.data(), c.data(), Units, Zones, false);
		float sum = 0;
		for (float &x : c)
			sum += x = std::exp(std::min(x, 20.0f));
		for (float &x : c)
			x /= sum;
		const float loss = -std::log(c[zone] + 1e-9f);
		c[zone] -= 1;
		backward(third_, b.data(), c.data(), gb.data(), Units, Zones);
		slope(b, gb);
		backward(second_, a.data(), gb.data(), ga.data(), Units, Units);
		slope(a, ga);
		backward(first_, past, ga.data(), nullptr, Past, Units);
		return loss;
	}

private:
	static void forward(const std::vector<float> &w, const float *x, float *y, int in, int out, bool bent)
	{
		for (int o = 0; o < out; o++) {
			float sum = 0;
			for (int i = 0; i < in; i++)
				sum += w[o * in + i] * x[i];
			y[o] = bent ? sum / (1 + std::fabs(sum)) : sum;
		}
	}
	static void slope(const std::array<float, Units> &y, std::array<float, Units> &g)
	{
		for (int u = 0; u < Units; u++)
			g[u] *= (1 - std::fabs(y[u])) * (1 - std::fabs(y[u]));
	}
	static void backward(std::vector<float> &w, const float *x, const float *gy, float *gx, int in, int out)
	{
		for (int o = 0; o < out; o++)
			for (int i = 0; i < in; i++) {
				if (gx)
					gx[i] += w[o * in + i] * gy[o];
				w[o * in + i] -= 1e-4f * gy[o] * x[i];
			}
	}
	std::vector<float> first_, second_, third_;
};

class FormTable {
public:
	explicit FormTable(const std::vector<Delivery> &season) : season_(season) {}
	void refresh()
	{
		std::vector<const Delivery *> order;
		for (const Delivery &d : season_)
			order.push_back(&d);
		std::sort(order.begin(), order.end(), [](const Delivery *a, const Delivery *b) { return key(*a) < key(*b); });
		form_.assign(400, 0);
		for (const Delivery *d : order)
			form_[d->bowler] = 0.95f * form_[d->bowler] + 0.05f * d->speed;
	}
	float of(int bowler) const { return form_[bowler]; }

private:
	static std::string key(const Delivery &d)
	{
		return "b" + std::to_string(1000 + d.bowler) + "/" + std::to_string(100 + d.over);
	}
	const std::vector<Delivery> &season_;
	std::vector<float> form_;
};

} // namespace

int main()
{
	std::mt19937 dice(11);
	std::vector<Delivery> season(Season);
	for (Delivery &d : season)
		d = {static_cast<int>(dice() % 400), static_cast<int>(dice() % 50), static_cast<int>(dice() % Zones), 0.5f + 0.5f * static_cast<float>(dice() % 100) / 100};
	Net net(5);
	FormTable table(season);
	table.refresh();
	watch watch;
	float loss = 0;

	watch_begin(&watch);
	for (size_t ball = Past; watch_seconds(&watch) < 7; watch.steps++) {
		DWELL_STEP();
		if (watch.steps % 14 == 13) {
			planted_begin(&watch);
			table.refresh();
			planted_end(&watch);
		}
		std::array<float, Past> past;
		loss = 0;
		for (int b = 0; b < Batch; b++) {
			DWELL_ZONE("ball");
			if (++ball >= season.size())
				ball = Past;
			for (int p = 0; p < Past; p++)
				past[p] = season[ball - 1 - p].speed - 0.5f * table.of(season[ball - 1 - p].bowler);
			loss += net.learn(past.data(), season[ball].zone);
		}
	}
	watch_tell(&watch);
	std::printf("loss %.4f\n", static_cast<double>(loss) / Batch);
	return 0;
}
