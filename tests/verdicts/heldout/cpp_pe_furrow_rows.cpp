// Where the crop's rows are: a tractor's camera gives pictures, a small convolutional network with one row of heads learns offset and angle.
// A camera thread draws the pictures and puts them into a tray.
//
// Planted: the camera draws its bursts of eight pictures while it holds the tray's mutex, so the learner waits for the lock with the tray half full.
// Truth: time that the learner takes to get a picture, nearly all of it for the tray's lock, as a share of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <list>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

namespace {

constexpr int Side = 72, Kernels = 8, Tap = 5, Valid = Side - Tap + 1, Burst = 8, Left = 5;

struct Picture {
	float light[Side][Side];
	float offset, angle;
};

class Tray {
public:
	template <typename Draw> void put(Draw draw)
	{
		std::unique_lock<std::mutex> hold(lock_);
		room_.wait(hold, [this] { return pictures_.size() <= Left || closed_; });
		for (int number = 0; number < Burst && !closed_; number++)
			pictures_.push_back(draw());
		some_.notify_one();
	}
	std::unique_ptr<Picture> take()
	{
		std::unique_lock<std::mutex> hold(lock_);
		some_.wait(hold, [this] { return !pictures_.empty(); });
		auto first = std::move(pictures_.front());
		pictures_.pop_front();
		room_.notify_one();
		return first;
	}
	void close()
	{
		closed_ = true;
		room_.notify_one();
	}
	bool closed() const { return closed_; }

private:
	std::mutex lock_;
	std::condition_variable room_, some_;
	std::list<std::unique_ptr<Picture>> pictures_;
	std::atomic<bool> closed_{false};
};

std::unique_ptr<Picture> draw(std::minstd_rand &dice)
{
	auto picture = std::make_unique<Picture>();
	picture->offset = float(dice() % 1000) / 1000 - 0.5f;
	picture->angle = float(dice() % 1000) / 2000 - 0.25f;
	for (int y = 0; y < Side; y++)
		for (int x = 0; x < Side; x++) {
			float light = 0;
			for (int ray = 0; ray < 26; ray++)
				light += std::cos(0.5f * (x + 0.03f * ray) + 6 * picture->offset + picture->angle * y) / 26;
			picture->light[y][x] = light + float(dice() % 512) / 2048;
		}
	return picture;
}

struct Network {
	float kernel[Kernels][Tap][Tap], head[2][Kernels][Valid];

	explicit Network(std::minstd_rand &dice)
	{
		for (auto &k : kernel)
			for (auto &row : k)
				for (float &w : row)
					w = float(dice() % 2000) / 5000 - 0.2f;
		for (auto &h : head)
			for (auto &row : h)
				for (float &w : row)
					w = float(dice() % 2000) / 50000 - 0.02f;
	}
	float learn(const Picture &picture)
	{
		static float map[Kernels][Valid][Valid];
		float column[Kernels][Valid] = {}, said[2] = {}, loss = 0;
		{
			DWELL_ZONE("convolve");
			for (int k = 0; k < Kernels; k++)
				for (int y = 0; y < Valid; y++)
					for (int x = 0; x < Valid; x++) {
						float sum = 0;
						for (int i = 0; i < Tap; i++)
							for (int j = 0; j < Tap; j++)
								sum += kernel[k][i][j] * picture.light[y + i][x + j];
						map[k][y][x] = std::max(sum, 0.0f);
						column[k][x] += map[k][y][x] / Valid;
					}
		}
		const float truth[2] = {picture.offset, picture.angle};
		for (int h = 0; h < 2; h++) {
			for (int k = 0; k < Kernels; k++)
				for (int x = 0; x < Valid; x++)
					said[h] += head[h][k][x] * column[k][x];
			said[h] -= truth[h];
			loss += said[h] * said[h];
		}
		DWELL_ZONE("correct");
		for (int k = 0; k < Kernels; k++) {
			float slope[Tap][Tap] = {};
			for (int x = 0; x < Valid; x++) {
				const float back = (said[0] * head[0][k][x] + said[1] * head[1][k][x]) / Valid;
				for (int y = 0; y < Valid; y++)
					for (int i = 0; i < Tap; i++)
						for (int j = 0; j < Tap; j++)
							slope[i][j] += (map[k][y][x] > 0 ? back : 0) * picture.light[y + i][x + j];
				for (int h = 0; h < 2; h++)
					head[h][k][x] -= 0.002f * said[h] * column[k][x];
			}
			for (int i = 0; i < Tap; i++)
				for (int j = 0; j < Tap; j++)
					kernel[k][i][j] -= 0.002f * slope[i][j];
		}
		return loss;
	}
};

} // namespace

int main()
{
	std::minstd_rand dice(12);
	Network network(dice);
	Tray tray;
	std::thread camera([&tray] {
		std::minstd_rand own(31);
		while (!tray.closed())
			tray.put([&own] { return draw(own); });
	});
	float loss = 0;
	watch watch;

	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		planted_begin(&watch);
		const std::unique_ptr<Picture> picture = tray.take();
		planted_end(&watch);
		loss += 0.02f * (network.learn(*picture) - loss);
		watch.steps++;
	}
	watch_tell(&watch);
	tray.close();
	camera.join();
	std::printf("loss %.4f\n", double(loss));
	return 0;
}
