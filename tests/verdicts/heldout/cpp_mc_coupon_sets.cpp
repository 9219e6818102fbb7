// Will a shopper redeem a coupon? Vectors of the shopper, of the coupon and of ten articles bought lately go through a
// small network; everything is trained with Adam.
//
// Planted: Adam goes over the whole tables of vectors in each step, though a batch touches a small part of their rows.
// Truth: time of Adam over the tables, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

class Tensor {
public:
	Tensor(size_t rows, size_t columns, float size, std::mt19937 &random)
		: width(columns), value(rows * columns), gradient(rows * columns), mean(rows * columns), square(rows * columns, 1e-6f)
	{
		std::uniform_real_distribution<float> any(-size, size);
		for (auto &v : value)
			v = any(random);
	}

	const float *row(size_t r) const { return &value[r * width]; }
	float *to(size_t r) { return &gradient[r * width]; }

	void adam(float rate)
	{
		for (size_t i = 0; i < value.size(); i++) {
			const float g = gradient[i];
			mean[i] += 0.1f * (g - mean[i]);
			square[i] += 0.001f * (g * g - square[i]);
			value[i] -= rate * mean[i] / (std::sqrt(square[i]) + 1e-8f);
			gradient[i] = 0;
		}
	}

	const size_t width;

private:
	std::vector<float> value, gradient, mean, square;
};

struct Offer {
	int shopper, coupon, bought[10];
	float redeemed;
};

class Recommender {
public:
	static constexpr int shoppers = 14000, coupons = 2000, articles = 36000, width = 16, inputs = 3 * width, hidden = 96;

	explicit Recommender(std::mt19937 &random)
		: of_shopper(shoppers, width, 0.5f, random), of_coupon(coupons, width, 0.5f, random),
		  of_article(articles, width, 0.5f, random), dense(hidden, inputs, 0.3f, random), deep(hidden, hidden, 0.2f, random), out(1, hidden, 0.3f, random)
	{
	}

	float train(const Offer &offer)
	{
		float in[inputs], one[hidden], two[hidden], logit = 0, to_one[hidden] = {}, to_in[inputs] = {};
		for (int w = 0; w < width; w++) {
			in[w] = of_shopper.row(offer.shopper)[w];
			in[width + w] = of_coupon.row(offer.coupon)[w];
			in[2 * width + w] = 0;
			for (int article : offer.bought)
				in[2 * width + w] += 0.3f * of_article.row(article)[w];
		}
		for (int h = 0; h < hidden; h++) {
			float sum = 0;
			for (int i = 0; i < inputs; i++)
				sum += dense.row(h)[i] * in[i];
			one[h] = std::tanh(sum);
		}
		for (int h = 0; h < hidden; h++) {
			float sum = 0;
			for (int k = 0; k < hidden; k++)
				sum += deep.row(h)[k] * one[k];
			two[h] = std::tanh(sum);
			logit += out.row(0)[h] * two[h];
		}
		const float chance = 1 / (1 + std::exp(-logit)), wrong = (chance - offer.redeemed) / 256;
		for (int h = 0; h < hidden; h++) {
			const float slope = wrong * out.row(0)[h] * (1 - two[h] * two[h]);
			out.to(0)[h] += wrong * two[h];
			for (int k = 0; k < hidden; k++) {
				deep.to(h)[k] += slope * one[k];
				to_one[k] += slope * deep.row(h)[k];
			}
		}
		for (int h = 0; h < hidden; h++) {
			const float slope = to_one[h] * (1 - one[h] * one[h]);
			for (int i = 0; i < inputs; i++) {
				dense.to(h)[i] += slope * in[i];
				to_in[i] += slope * dense.row(h)[i];
			}
		}
		for (int w = 0; w < width; w++) {
			of_shopper.to(offer.shopper)[w] += to_in[w];
			of_coupon.to(offer.coupon)[w] += to_in[width + w];
			for (int article : offer.bought)
				of_article.to(article)[w] += 0.3f * to_in[2 * width + w];
		}
		return -std::log(offer.redeemed > 0.5f ? chance : 1 - chance);
	}

	Tensor of_shopper, of_coupon, of_article, dense, deep, out;
};

int main()
{
	std::mt19937 random(8);
	auto model = std::make_unique<Recommender>(random);
	std::vector<Offer> batch(256);
	watch watch;
	float loss = 0;

	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "offers");
			for (auto &offer : batch) {
				offer.shopper = static_cast<int>(random() % Recommender::shoppers);
				offer.coupon = static_cast<int>(random() % Recommender::coupons);
				for (int &article : offer.bought)
					article = static_cast<int>(random() % Recommender::articles);
				offer.redeemed = static_cast<float>(random() % 2);
			}
		}
		{
			DWELL_PHASE("gradients");
			loss = 0;
			for (const auto &offer : batch)
				loss += model->train(offer);
		}
		{
			DWELL_PHASE("optimizer");
			planted_begin(&watch);
			for (Tensor *table : {&model->of_shopper, &model->of_coupon, &model->of_article})
				table->adam(1e-4f);
			planted_end(&watch);
			for (Tensor *weights : {&model->dense, &model->deep, &model->out})
				weights->adam(1e-4f);
		}
		watch.steps++;
	}
	watch_tell(&watch);
	std::printf("loss %.4f\n", static_cast<double>(loss / 256));
}
