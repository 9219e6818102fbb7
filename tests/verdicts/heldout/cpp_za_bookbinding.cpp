// Estimates how many hours a bindery needs to repair a book: a factorization machine learns from orders, batch by batch. The
// age of paper and leather comes from the catalogue of materials, which a clerk keeps in order in another thread.
//
// Planted: the clerk holds the catalogue's lock while all materials are priced and sorted anew, and each batch needs that lock.
// Truth: time until the batch has the lock, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int kFields = 14, kWords = 900, kRank = 24, kBatch = 220;

struct Material {
	std::uint32_t code;
	float price, age;
};

class Catalogue {
public:
	explicit Catalogue(size_t count)
	{
		for (size_t i = 0; i < count; i++)
			materials_.push_back({static_cast<std::uint32_t>(i * 2654435761u), 1.0f, static_cast<float>(i % 300) / 300.0f});
	}

	std::array<float, kBatch> ages(std::uint32_t from)
	{
		std::array<float, kBatch> found;
		planted_begin(watch_);
		const std::lock_guard<std::mutex> guard(lock_);
		planted_end(watch_);
		for (size_t i = 0; i < found.size(); i++)
			found[i] = materials_[(from + i * 31) % materials_.size()].age;
		return found;
	}

	void reorder(float index)
	{
		const std::lock_guard<std::mutex> guard(lock_);
		for (Material &material : materials_)
			material.price = std::fmod(static_cast<float>(material.code >> 8) * index, 977.0f);
		std::sort(materials_.begin(), materials_.end(), [](const Material &a, const Material &b) { return a.price < b.price; });
	}

	void timed_by(watch *watch) { watch_ = watch; }

private:
	std::vector<Material> materials_;
	std::mutex lock_;
	watch *watch_ = nullptr;
};

struct Order {
	std::array<int, kFields> words;
	float hours;
};

class Machine {
public:
	Machine() : hidden_(static_cast<size_t>(kWords * kRank)), linear_(kWords)
	{
		std::mt19937 random(4);
		std::normal_distribution<float> normal(0, 0.05f);
		for (float &value : hidden_)
			value = normal(random);
	}

	float learn(const Order &order, float age)
	{
		std::array<float, kRank> sum{};
		float said = age * scale_, squares = 0;
		for (int word : order.words) {
			said += linear_[static_cast<size_t>(word)];
			for (int r = 0; r < kRank; r++) {
				const float value = hidden_[static_cast<size_t>(word * kRank + r)];
				sum[static_cast<size_t>(r)] += value;
				squares += value * value;
			}
		}
		for (float each : sum)
			said += 0.5f * each * each;
		const float wrong = said - 0.5f * squares - order.hours;
		for (int word : order.words) {
			linear_[static_cast<size_t>(word)] -= 1e-3f * wrong;
			for (int r = 0; r < kRank; r++) {
				float &value = hidden_[static_cast<size_t>(word * kRank + r)];
				value -= 1e-3f * (wrong * (sum[static_cast<size_t>(r)] - value) + 1e-4f * value);
			}
		}
		scale_ -= 1e-4f * wrong * age;
		return wrong * wrong;
	}

private:
	std::vector<float> hidden_, linear_;
	float scale_ = 0.1f;
};

}  // namespace

int main()
{
	watch watch;
	Catalogue catalogue(60000);
	Machine machine;
	catalogue.timed_by(&watch);
	std::mt19937 random(9);
	std::vector<Order> orders(12000);
	for (Order &order : orders) {
		for (int &word : order.words)
			word = static_cast<int>(random() % kWords);
		order.hours = static_cast<float>(order.words[0] % 40) / 10.0f;
	}
	std::atomic<bool> closing{false};
	std::thread clerk([&] {
		for (float index = 1.01f; !closing; index += 0.013f) {
			catalogue.reorder(index);
			std::this_thread::sleep_for(std::chrono::milliseconds(6));
		}
	});
	double loss = 0;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		const std::array<float, kBatch> ages = catalogue.ages(static_cast<std::uint32_t>(watch.steps) * 17);
		DWELL_ZONE("learn");
		for (int round = 0; round < 8; round++)
			for (size_t i = 0; i < ages.size(); i++)
				loss += static_cast<double>(machine.learn(orders[(static_cast<size_t>(watch.steps) * 131 + i) % orders.size()], ages[i]));
	}
	watch_tell(&watch);
	closing = true;
	clerk.join();
	std::printf("loss %.4f\n", loss / static_cast<double>(watch.steps) / kBatch);
}
