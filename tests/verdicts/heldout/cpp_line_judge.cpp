// A reader for typesetters: it learns after which words of a paragraph a line is best broken.
//
// Planted: nothing; only the steps are marked. The work is that of a network on windows of words.
// Truth: time of building the windows, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

template <int Rows, int Columns> struct Matrix {
  std::vector<float> value = std::vector<float>(Rows * Columns), slope = std::vector<float>(Rows * Columns);

  explicit Matrix(std::mt19937 &random)
  {
    std::normal_distribution<float> normal(0, 1 / std::sqrt(float(Columns)));
    std::generate(value.begin(), value.end(), [&] { return normal(random); });
  }
  void times(const float *in, float *out) const
  {
    for (int row = 0; row < Rows; row++) {
      float sum[4] = {};
      for (int column = 0; column < Columns; column += 4)
        for (int lane = 0; lane < 4; lane++)
          sum[lane] += value[row * Columns + column + lane] * in[column + lane];
      out[row] = sum[0] + sum[1] + sum[2] + sum[3];
    }
  }
  void back(const float *in, const float *error, float *below)
  {
    for (int row = 0; row < Rows; row++)
      for (int column = 0; column < Columns; column++) {
        slope[row * Columns + column] += error[row] * in[column];
        below[column] += error[row] * value[row * Columns + column];
      }
  }
  void descend(float rate)
  {
    for (size_t at = 0; at < value.size(); at++) {
      value[at] -= rate * slope[at];
      slope[at] *= 0.9f;
    }
  }
};

constexpr int kWords = 2000, kWidth = 24, kWindow = 6, kHidden = 96, kParagraph = 90;

struct Judge {
  std::mt19937 random{12};
  Matrix<kWords, kWidth> words{random};
  Matrix<kHidden, kWidth * kWindow> window{random};
  Matrix<1, kHidden> last{random};
  float joined[kWidth * kWindow], hidden[kHidden];

  void join(const std::vector<uint16_t> &text, size_t at)
  {
    for (int place = 0; place < kWindow; place++)
      std::copy_n(&words.value[text[at + place] * kWidth], kWidth, &joined[place * kWidth]);
  }
  float penalty()
  {
    float result;
    window.times(joined, hidden);
    for (float &unit : hidden)
      unit = unit > 0 ? unit : 0.05f * unit;
    last.times(hidden, &result);
    return result;
  }
  void learn(const std::vector<uint16_t> &text, size_t at, float error)
  {
    float below[kHidden] = {}, lowest[kWidth * kWindow] = {};
    last.back(hidden, &error, below);
    for (int unit = 0; unit < kHidden; unit++)
      below[unit] *= hidden[unit] > 0 ? 1 : 0.05f;
    window.back(joined, below, lowest);
    for (int place = 0; place < kWindow; place++)
      for (int column = 0; column < kWidth; column++)
        words.value[text[at + place] * kWidth + column] -= 1e-4f * lowest[place * kWidth + column];
  }
};

int main()
{
  Judge judge;
  std::vector<uint16_t> text(40000);
  struct watch watch;

  for (auto &word : text)
    word = uint16_t(std::min(judge.random() % kWords, judge.random() % kWords));
  watch_begin(&watch);
  for (; watch_seconds(&watch) < 5.5; watch.steps++) {
    DWELL_STEP();
    const size_t begin = size_t(watch.steps) * 53 % (text.size() - kParagraph - kWindow);
    for (size_t at = begin; at < begin + kParagraph; at++) {
      judge.join(text, at);
      const float wanted = text[at + 2] % 7 == 0 ? 0 : 1;
      judge.learn(text, at, std::clamp(judge.penalty() - wanted, -1.0f, 1.0f));
    }
    planted_begin(&watch);
    judge.join(text, begin);
    planted_end(&watch);
    judge.window.descend(1e-5f);
    judge.last.descend(1e-5f);
  }
  watch_tell(&watch);
}
