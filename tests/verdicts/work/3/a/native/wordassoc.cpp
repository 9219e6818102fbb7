// Word association study: counts words and neighbouring pairs in a corpus and
// lists the pairs with the highest pointwise mutual information.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

class Lexicon {
public:
    uint32_t idOf(std::string_view word) {
        auto it = ids_.find(std::string(word));
        if (it != ids_.end())
            return it->second;
        uint32_t id = static_cast<uint32_t>(words_.size());
        words_.emplace_back(word);
        ids_.emplace(words_.back(), id);
        return id;
    }
    const std::string &word(uint32_t id) const { return words_[id]; }
    size_t size() const { return words_.size(); }

private:
    std::unordered_map<std::string, uint32_t> ids_;
    std::vector<std::string> words_;
};

struct PairCount {
    uint32_t first, second;
    uint32_t count;
    double score;
};

static std::string writeCorpus(size_t sentences) {
    static const char *syllables[] = {"ka", "ri", "to", "men", "sal", "ve", "du", "lor", "ni", "pha", "es", "qui"};
    uint64_t s = 5150;
    auto roll = [&s](uint32_t n) {
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        return static_cast<uint32_t>((s >> 33) % n);
    };
    std::vector<std::string> vocabulary;
    for (int i = 0; i < 9000; i++) {
        std::string w;
        for (uint32_t k = 2 + roll(3); k > 0; k--)
            w += syllables[roll(12)];
        vocabulary.push_back(w);
    }
    std::string text;
    text.reserve(sentences * 90);
    for (size_t i = 0; i < sentences; i++) {
        uint32_t words = 6 + roll(12), last = 0;
        for (uint32_t k = 0; k < words; k++) {
            uint32_t w = roll(4) == 0 ? (last * 7 + 13) % 9000 : roll(1 + roll(9000));
            text += vocabulary[w];
            text += k + 1 == words ? ".\n" : " ";
            last = w;
        }
    }
    return text;
}

static std::vector<uint32_t> tokenize(const std::string &text, Lexicon &lexicon, uint32_t stop) {
    std::vector<uint32_t> tokens;
    tokens.reserve(text.size() / 6);
    size_t at = 0;
    while (at < text.size()) {
        size_t end = at;
        while (end < text.size() && text[end] >= 'a' && text[end] <= 'z')
            end++;
        if (end > at)
            tokens.push_back(lexicon.idOf(std::string_view(text).substr(at, end - at)));
        if (end < text.size() && text[end] == '.')
            tokens.push_back(stop);
        at = end + 1;
    }
    return tokens;
}

static std::vector<uint32_t> countWords(const std::vector<uint32_t> &tokens, uint32_t stop, size_t size) {
    std::vector<uint32_t> counts(size);
    for (uint32_t t : tokens)
        if (t != stop)
            counts[t]++;
    return counts;
}

static std::vector<uint64_t> pairKeys(const std::vector<uint32_t> &tokens, uint32_t stop) {
    std::vector<uint64_t> keys;
    keys.reserve(tokens.size());
    for (size_t i = 1; i < tokens.size(); i++)
        if (tokens[i] != stop && tokens[i - 1] != stop)
            keys.push_back(static_cast<uint64_t>(tokens[i - 1]) << 32 | tokens[i]);
    std::sort(keys.begin(), keys.end());
    return keys;
}

static std::vector<PairCount> countPairs(const std::vector<uint64_t> &keys) {
    std::vector<PairCount> pairs;
    for (size_t i = 0; i < keys.size();) {
        size_t j = i;
        while (j < keys.size() && keys[j] == keys[i])
            j++;
        pairs.push_back({static_cast<uint32_t>(keys[i] >> 32), static_cast<uint32_t>(keys[i]),
                         static_cast<uint32_t>(j - i), 0.0});
        i = j;
    }
    return pairs;
}

static void scorePairs(std::vector<PairCount> &pairs, const std::vector<uint32_t> &counts, double total) {
    pairs.erase(std::remove_if(pairs.begin(), pairs.end(), [](const PairCount &p) { return p.count < 5; }),
                pairs.end());
    for (PairCount &p : pairs)
        p.score = std::log(p.count * total / (static_cast<double>(counts[p.first]) * counts[p.second]));
}

int main() {
    const uint32_t stop = UINT32_MAX;
    std::string text = writeCorpus(2500000);
    Lexicon lexicon;
    std::vector<uint32_t> tokens = tokenize(text, lexicon, stop);
    std::vector<uint32_t> counts = countWords(tokens, stop, lexicon.size());
    std::vector<PairCount> pairs = countPairs(pairKeys(tokens, stop));
    size_t distinct = pairs.size();
    scorePairs(pairs, counts, static_cast<double>(tokens.size()));
    size_t top = std::min<size_t>(10, pairs.size());
    std::partial_sort(pairs.begin(), pairs.begin() + static_cast<long>(top), pairs.end(),
                      [](const PairCount &a, const PairCount &b) {
                          return a.score != b.score ? a.score > b.score
                                                    : std::make_pair(a.first, a.second) < std::make_pair(b.first, b.second);
                      });
    for (size_t i = 0; i < top; i++)
        std::printf("%s %s %u %.4f\n", lexicon.word(pairs[i].first).c_str(), lexicon.word(pairs[i].second).c_str(),
                    pairs[i].count, pairs[i].score);
    std::printf("tokens %zu words %zu pairs %zu\n", tokens.size(), lexicon.size(), distinct);
    return 0;
}
