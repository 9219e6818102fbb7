// Learns an embedding for each item of a shop's log of purchases. There is no mark.
//
// The fault: the row of an item is searched from the table's begin for each purchase.
#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

constexpr int batches = 800, batch = 500, items = 5000;
constexpr std::size_t width = 32;

class Table {
public:
	std::size_t row_of(unsigned item)
	{
		for (std::size_t row = 0; row < names.size(); row++)
			if (names[row] == item)
				return row;
		names.push_back(item);
		values.resize(values.size() + width, 0.1f);
		return names.size() - 1;
	}

	float *values_of(unsigned item)
	{
		return &values[row_of(item) * width];
	}

	std::size_t size() const
	{
		return names.size();
	}

private:
	std::vector<unsigned> names;
	std::vector<float> values;
};

// What is bought together comes closer together.
__attribute__((noinline)) static float learn(const std::vector<unsigned> &bought, Table &table)
{
	float far = 0;

	for (std::size_t at = 1; at < bought.size(); at++) {
		const std::size_t before = table.row_of(bought[at - 1]), after = table.row_of(bought[at]);
		if (before == after)
			continue;
		float *left = table.values_of(bought[at - 1]), *right = table.values_of(bought[at]);
		for (std::size_t place = 0; place < width; place++) {
			const float way = right[place] - left[place] + 1e-3f * static_cast<float>(place % 3);
			left[place] += 0.05f * way;
			right[place] -= 0.05f * way;
			far += way * way;
		}
	}
	return far;
}

int main()
{
	std::mt19937 random(1);
	std::vector<unsigned> bought(batch);
	Table table;
	float far = 0;

	for (int number = 0; number < batches; number++) {
		std::generate(bought.begin(), bought.end(), [&] { return random() % items * 7919; });
		far = learn(bought, table);
	}
	std::printf("%zu items, %f\n", table.size(), static_cast<double>(far));
}
