// Learns to forecast the moves of chess players from games in a text format that has typing errors in it.
//
// Planted: nothing. The reader throws and catches exceptions, locks a mutex for each move and prints what it skipped,
// but a step needs few moves and the network takes long.
// Truth: time of reading moves, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <fstream>
#include <mutex>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kSquares = 64, kHidden = 256, kMovesOfStep = 32;

struct Move {
	int from, to;
};

class Games {
public:
	Games() : skipped_("skipped-" + std::to_string(getpid()))
	{
		std::mt19937 random(2);
		unlink(("skipped-" + std::to_string(getpid())).c_str());
		std::ostringstream all;
		for (int move = 0; move < 20000; move++)
			all << char('a' + random() % 8) << 1 + random() % 8 << char('a' + random() % 9) << 1 + random() % 8 << ' ';
		text_ = all.str();
	}
	Move next()
	{
		std::lock_guard<std::mutex> guard(mutex_);
		for (;;) {
			const std::string move = text_.substr(at_, 4);
			at_ = (at_ + 5) % text_.size();
			try {
				return {square(move.substr(0, 2)), square(move.substr(2))};
			} catch (const std::runtime_error &error) {
				skipped_ << error.what() << " in " << move << '\n';
			}
		}
	}

private:
	static int square(const std::string &name)
	{
		if (name[0] < 'a' || name[0] > 'h')
			throw std::runtime_error("no such file");
		return (name[0] - 'a') + 8 * (name[1] - '1');
	}
	std::mutex mutex_;
	std::string text_;
	std::ofstream skipped_;
	size_t at_ = 0;
};

struct Layer {
	int ins, outs;
	std::vector<float> weights;
	Layer(int ins, int outs, unsigned seed) : ins(ins), outs(outs), weights(static_cast<size_t>(ins) * outs)
	{
		std::mt19937 random(seed);
		for (float &weight : weights)
			weight = (static_cast<float>(random() % 1000) / 1000 - 0.5f) / std::sqrt(static_cast<float>(ins));
	}
	void run(const std::vector<float> &in, std::vector<float> &out) const
	{
		for (int o = 0; o < outs; o++) {
			float sum = 0;
			for (int i = 0; i < ins; i++)
				sum += weights[static_cast<size_t>(o) * ins + i] * in[i];
			out[o] = std::tanh(sum);
		}
	}
	void learn(const std::vector<float> &in, const std::vector<float> &error, std::vector<float> &below)
	{
		std::fill(below.begin(), below.end(), 0.0f);
		for (int o = 0; o < outs; o++)
			for (int i = 0; i < ins; i++) {
				below[i] += error[o] * weights[static_cast<size_t>(o) * ins + i];
				weights[static_cast<size_t>(o) * ins + i] -= 1e-4f * error[o] * in[i];
			}
	}
};

} // namespace

int main()
{
	Games games;
	Layer one(kSquares, kHidden, 1), two(kHidden, kHidden, 2), three(kHidden, kSquares, 3);
	std::vector<float> board(kSquares), a(kHidden), b(kHidden), guess(kSquares), error(kSquares), back_b(kHidden),
	    back_a(kHidden), none(kSquares);
	struct watch watch;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		std::vector<Move> moves(kMovesOfStep);
		planted_begin(&watch);
		{
			DWELL_ZONE("read moves");
			for (Move &move : moves)
				move = games.next();
		}
		planted_end(&watch);
		for (const Move &move : moves) {
			board[move.from] = 0.5f - board[move.from];
			{
				DWELL_ZONE("guess");
				one.run(board, a), two.run(a, b), three.run(b, guess);
			}
			DWELL_ZONE("learn");
			for (int s = 0; s < kSquares; s++)
				error[s] = guess[s] - static_cast<float>(s == move.to);
			three.learn(b, error, back_b), two.learn(a, back_b, back_a), one.learn(board, back_a, none);
		}
	}
	watch_tell(&watch);
}
