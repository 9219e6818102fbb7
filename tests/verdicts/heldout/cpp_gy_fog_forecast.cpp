// Fog at an airfield: random Fourier features of what the instruments say, and a logistic regression for eight hours on top of them.
//
// Decoy: a producer's thread with a queue, a mutex and a condition; batches on the heap, a map of stations, text for each step, all of a moment.
// Truth: time that the loop spends at the queue, in the map and with the text, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int Instruments = 40, Features = 768, Hours = 8, Batch = 96;

struct Watchbook {
	std::string station;
	std::vector<float> readings;
	std::vector<float> fog;
};

class Mast {
public:
	Mast() : thread_([this] { fill(); }) {}
	~Mast()
	{
		{
			std::lock_guard<std::mutex> hold(mutex_);
			closing_ = true;
		}
		room_.notify_all();
		thread_.join();
	}
	std::unique_ptr<Watchbook> next()
	{
		std::unique_lock<std::mutex> hold(mutex_);
		ready_.wait(hold, [this] { return !books_.empty(); });
		auto book = std::move(books_.front());
		books_.pop_front();
		room_.notify_one();
		return book;
	}

private:
	void fill()
	{
		std::minstd_rand dice(77);
		for (int number = 0;; number++) {
			auto book = std::make_unique<Watchbook>();
			book->station = "EDD" + std::string(1, static_cast<char>('A' + number % 17));
			book->readings.resize(Batch * Instruments);
			for (float &reading : book->readings)
				reading = static_cast<float>(dice()) / 1073741824.0f - 1;
			book->fog.resize(Batch * Hours);
			for (int n = 0; n < Batch; n++)
				for (int h = 0; h < Hours; h++)
					book->fog[n * Hours + h] = book->readings[n * Instruments + h] * book->readings[n * Instruments + h + 9] > 0.1f;
			std::unique_lock<std::mutex> hold(mutex_);
			room_.wait(hold, [this] { return books_.size() < 6 || closing_; });
			if (closing_)
				return;
			books_.push_back(std::move(book));
			ready_.notify_one();
		}
	}

	std::mutex mutex_;
	std::condition_variable ready_, room_;
	std::deque<std::unique_ptr<Watchbook>> books_;
	bool closing_ = false;
	std::thread thread_;
};

struct Forecaster {
	std::vector<float> direction = std::vector<float>(Features * Instruments), phase = std::vector<float>(Features);
	std::vector<float> weight = std::vector<float>(Hours * Features), slope = std::vector<float>(Hours * Features);
	std::vector<float> wave = std::vector<float>(Batch * Features);

	Forecaster()
	{
		std::mt19937 dice(5);
		std::normal_distribution<float> normal(0, 0.4f);
		for (float &d : direction)
			d = normal(dice);
		for (float &p : phase)
			p = normal(dice) * 6;
	}
	void features(const Watchbook &book)
	{
		DWELL_ZONE("features");
		for (int n = 0; n < Batch; n++)
			for (int f = 0; f < Features; f++) {
				float sum = phase[f];
				for (int i = 0; i < Instruments; i++)
					sum += direction[f * Instruments + i] * book.readings[n * Instruments + i];
				wave[n * Features + f] = std::cos(sum);
			}
	}
	float regress(const Watchbook &book)
	{
		DWELL_ZONE("regress");
		float loss = 0;
		for (int n = 0; n < Batch; n++)
			for (int h = 0; h < Hours; h++) {
				float sum = 0;
				for (int f = 0; f < Features; f++)
					sum += weight[h * Features + f] * wave[n * Features + f];
				const float error = 1 / (1 + std::exp(-sum)) - book.fog[n * Hours + h];
				loss += error * error / (Batch * Hours);
				for (int f = 0; f < Features; f++)
					slope[h * Features + f] += error * wave[n * Features + f] / Batch;
			}
		for (int i = 0; i < Hours * Features; i++) {
			weight[i] -= 0.1f * slope[i];
			slope[i] = 0;
		}
		return loss;
	}
};

} // namespace

int main()
{
	Forecaster forecaster;
	Mast mast;
	std::map<std::string, double> stations;
	std::ostringstream diary;
	watch watch;

	watch_begin(&watch);
	while (watch_seconds(&watch) < 6.3) {
		DWELL_STEP();
		std::unique_ptr<Watchbook> book;
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "mast");
			planted_begin(&watch);
			book = mast.next();
			planted_end(&watch);
		}
		forecaster.features(*book);
		const float loss = forecaster.regress(*book);
		planted_begin(&watch);
		double &mean = stations[book->station];
		mean += 0.1 * (static_cast<double>(loss) - mean);
		diary.str("");
		diary << "step " << watch.steps << ' ' << book->station << " loss " << loss << " mean " << mean;
		DWELL_COUNTER("loss", static_cast<double>(loss));
		planted_end(&watch);
		watch.steps++;
	}
	watch_tell(&watch);
	std::printf("%s\n", diary.str().c_str());
	return 0;
}
