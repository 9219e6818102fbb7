// Compiles the filter rules of an alerting system to byte code and evaluates them
// against a batch of records.  Rules come from many tenants and change all the time,
// so compile time matters as much as evaluation.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

enum class Kind { Number, Name, Op, End };

struct Token {
    Kind kind;
    double value;
    std::string text;
};

enum class Code : uint8_t { Push, Load, Add, Sub, Mul, Div, Less, Greater, Equal, And, Or };

struct Instr {
    Code code;
    uint16_t slot;
    double value;
};

const std::vector<std::string> field_names = {"cpu_load",   "mem_used",  "disk_free", "net_rx",    "net_tx",   "errors",
                                              "latency_ms", "queue_len", "restarts",  "temp_core", "open_fds", "users"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

Token classify(const std::string &word) {
    try {
        size_t used = 0;
        double v = std::stod(word, &used);
        if (used == word.size())
            return {Kind::Number, v, word};
    } catch (const std::invalid_argument &) {
    }
    if (word == "and" || word == "or")
        return {Kind::Op, 0, word};
    return {Kind::Name, 0, word};
}

std::vector<Token> tokenize(std::string_view src) {
    std::vector<Token> out;
    for (size_t i = 0; i < src.size();) {
        if (src[i] == ' ') {
            i++;
        } else if (is_word(src[i])) {
            size_t j = i;
            while (j < src.size() && is_word(src[j]))
                j++;
            out.push_back(classify(std::string(src.substr(i, j - i))));
            i = j;
        } else {
            out.push_back({Kind::Op, 0, std::string(1, src[i++])});
        }
    }
    out.push_back({Kind::End, 0, ""});
    return out;
}

class Compiler {
public:
    Compiler() {
        for (size_t i = 0; i < field_names.size(); i++)
            slots_[field_names[i]] = static_cast<uint16_t>(i);
    }

    std::vector<Instr> compile(std::string_view src) {
        tokens_ = tokenize(src);
        pos_ = 0;
        code_.clear();
        expression(0);
        if (tokens_[pos_].kind != Kind::End)
            throw std::runtime_error("unexpected '" + tokens_[pos_].text + "'");
        return code_;
    }

private:
    static int precedence(const Token &t, Code &code) {
        if (t.kind != Kind::Op)
            return -1;
        if (t.text.size() > 1) {
            code = t.text == "or" ? Code::Or : Code::And;
            return code == Code::Or ? 1 : 2;
        }
        switch (t.text[0]) {
        case '<': code = Code::Less; return 3;
        case '>': code = Code::Greater; return 3;
        case '=': code = Code::Equal; return 3;
        case '+': code = Code::Add; return 4;
        case '-': code = Code::Sub; return 4;
        case '*': code = Code::Mul; return 5;
        case '/': code = Code::Div; return 5;
        default: return -1;
        }
    }

    void primary() {
        const Token &t = tokens_[pos_++];
        if (t.kind == Kind::Number) {
            code_.push_back({Code::Push, 0, t.value});
        } else if (t.kind == Kind::Name) {
            auto it = slots_.find(t.text);
            if (it == slots_.end())
                throw std::runtime_error("unknown field " + t.text);
            code_.push_back({Code::Load, it->second, 0});
        } else if (t.text == "(") {
            expression(0);
            pos_++;
        } else {
            throw std::runtime_error("unexpected '" + t.text + "'");
        }
    }

    void expression(int min_prec) {
        primary();
        Code code = Code::Add;
        for (int p; (p = precedence(tokens_[pos_], code)) > min_prec;) {
            Code op = code;
            pos_++;
            expression(p);
            code_.push_back({op, 0, 0});
        }
    }

    std::unordered_map<std::string, uint16_t> slots_;
    std::vector<Token> tokens_;
    size_t pos_ = 0;
    std::vector<Instr> code_;
};

double evaluate(const std::vector<Instr> &code, const double *record) {
    double st[32];
    int n = 0;
    for (const Instr &i : code) {
        switch (i.code) {
        case Code::Push: st[n++] = i.value; continue;
        case Code::Load: st[n++] = record[i.slot]; continue;
        default: break;
        }
        double b = st[--n], a = st[n - 1], r = 0;
        switch (i.code) {
        case Code::Add: r = a + b; break;
        case Code::Sub: r = a - b; break;
        case Code::Mul: r = a * b; break;
        case Code::Div: r = b != 0 ? a / b : 0; break;
        case Code::Less: r = a < b; break;
        case Code::Greater: r = a > b; break;
        case Code::Equal: r = std::fabs(a - b) < 1e-9; break;
        case Code::And: r = a != 0 && b != 0; break;
        default: r = a != 0 || b != 0; break;
        }
        st[n - 1] = r;
    }
    return st[0];
}

std::string make_rule(std::mt19937 &gen) {
    auto pick = [&](int n) { return static_cast<int>(gen() % n); };
    std::string rule;
    int terms = 2 + pick(3);
    for (int i = 0; i < terms; i++) {
        if (i)
            rule += pick(2) ? " and " : " or ";
        char buf[160];
        std::snprintf(buf, sizeof buf, "(%s * %d.%d + %s) %c %s / %d", field_names[pick(12)].c_str(), pick(9), pick(9),
                      field_names[pick(12)].c_str(), "<>"[pick(2)], field_names[pick(12)].c_str(), 1 + pick(7));
        rule += buf;
    }
    return rule;
}

} // namespace

int main() {
    constexpr int n_rules = 290000, n_records = 96;
    std::mt19937 gen(99);
    std::vector<double> records(n_records * field_names.size());
    for (double &v : records)
        v = gen() % 1000 / 10.0;
    Compiler compiler;
    uint64_t instructions = 0, alerts = 0;
    for (int i = 0; i < n_rules; i++) {
        auto code = compiler.compile(make_rule(gen));
        instructions += code.size();
        for (int r = 0; r < n_records; r++)
            alerts += evaluate(code, &records[r * field_names.size()]) != 0;
    }
    std::printf("rules %d  instructions %llu  alerts %llu\n", n_rules, static_cast<unsigned long long>(instructions),
                static_cast<unsigned long long>(alerts));
    return 0;
}
