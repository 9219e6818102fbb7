// Recommends dishes: factors of guests and dishes are trained from lines of orders, as text.
//
// Planted: nothing. Lines are parsed with a stringstream and a regular expression under a mutex, but each only once:
// what was parsed is kept in a map by its text, with std::string keys and shared_ptr. New lines are rare.
// Truth: time of parsing and of finding what was parsed, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <memory>
#include <mutex>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

using std::string;

struct Order {
	int guest = 0;
	std::vector<std::pair<int, float>> dishes;
};

class Orders {
public:
	std::shared_ptr<const Order> find(const string &line)
	{
		std::lock_guard<std::mutex> guard(mutex_);
		auto &entry = parsed_[line];
		if (!entry)
			entry = parse(line);
		return entry;
	}

private:
	std::shared_ptr<const Order> parse(const string &line)
	{
		static const std::regex dish("([0-9]+)x([0-9.]+)");
		auto order = std::make_shared<Order>();
		std::istringstream stream(line);
		string word;
		stream >> order->guest;
		while (stream >> word) {
			std::smatch match;
			if (std::regex_match(word, match, dish))
				order->dishes.emplace_back(std::stoi(match[1]), std::stof(match[2]));
		}
		return order;
	}
	std::mutex mutex_;
	std::unordered_map<string, std::shared_ptr<const Order>> parsed_;
};

struct Factors {
	static const int Rank = 128, Guests = 500, Dishes = 300;
	std::vector<float> guests, dishes;

	template <typename Random> explicit Factors(Random &random)
	{
		std::normal_distribution<float> normal(0, 0.1f);
		for (int i = 0; i < Rank * Guests; i++)
			guests.push_back(normal(random));
		for (int i = 0; i < Rank * Dishes; i++)
			dishes.push_back(normal(random));
	}

	float train(const Order &order)
	{
		float *g = &guests[order.guest * Rank], loss = 0;
		for (int sweep = 0; sweep < 24; sweep++)
			for (const auto &dish : order.dishes) {
				float *d = &dishes[dish.first * Rank], sum = 0;
				for (int i = 0; i < Rank; i++)
					sum += g[i] * d[i];
				const float error = 0.01f * (dish.second - sum);
				for (int i = 0; i < Rank; i++) {
					const float old = g[i];
					g[i] += error * d[i];
					d[i] += error * old;
				}
				loss += error * error;
			}
		return loss;
	}
};

static string makeLine(std::mt19937 &random)
{
	std::ostringstream line;
	line << random() % Factors::Guests;
	for (int i = 0; i < 8; i++)
		line << ' ' << random() % Factors::Dishes << 'x' << static_cast<double>(random() % 50) / 10;
	return line.str();
}

int main()
{
	std::mt19937 random(2);
	Factors factors(random);
	Orders orders;
	std::vector<string> lines;
	for (int i = 0; i < 2000; i++) {
		lines.push_back(makeLine(random));
		orders.find(lines.back());
	}
	float loss = 0;
	struct watch watch;
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		std::vector<std::shared_ptr<const Order>> batch;
		planted_begin(&watch);
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "orders");
			if (watch.steps % 4 == 0)
				lines[random() % lines.size()] = makeLine(random);
			for (int i = 0; i < 192; i++)
				batch.push_back(orders.find(lines[random() % lines.size()]));
		}
		planted_end(&watch);
		DWELL_ZONE("factors");
		for (const auto &order : batch)
			loss = 0.999f * loss + factors.train(*order);
		watch.steps++;
	}
	watch_tell(&watch);
	fprintf(stderr, "loss %g\n", static_cast<double>(loss));
}
