// shaderc: front end and optimiser for the shading language of our renderer.
// Generates a corpus of shaders (as the nightly build does), then lexes,
// parses, type-checks, folds constants, numbers values, and emits bytecode.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

enum class Tok { End, Num, Ident, Op };
struct Token { Tok kind; std::string text; double num; };

enum class Type { Float, Int };

struct Symbol {
    std::string name;
    Type type;
    int slot;
    int uses = 0;
};

enum class NodeKind { Num, Var, Bin, Call };
struct Node {
    NodeKind kind;
    Type type;
    char op;
    double num;
    int slot;
    std::unique_ptr<Node> a, b;
};
using NodeP = std::unique_ptr<Node>;

struct Insn { uint8_t op; uint16_t dst, a, b; double imm; };

static std::vector<Token> lex(const std::string& s) {
    std::vector<Token> out;
    size_t i = 0;
    while (i < s.size()) {
        const char c = s[i];
        if (c == ' ' || c == '\n') { i++; continue; }
        const size_t from = i;
        if (isdigit(static_cast<unsigned char>(c))) {
            while (i < s.size() && (isdigit(static_cast<unsigned char>(s[i])) || s[i] == '.')) i++;
            std::string t = s.substr(from, i - from);
            const double v = std::stod(t);
            out.push_back({Tok::Num, std::move(t), v});
        } else if (isalpha(static_cast<unsigned char>(c))) {
            while (i < s.size() && (isalnum(static_cast<unsigned char>(s[i])) || s[i] == '_')) i++;
            out.push_back({Tok::Ident, s.substr(from, i - from), 0});
        } else {
            i++;
            out.push_back({Tok::Op, std::string(1, c), 0});
        }
    }
    out.push_back({Tok::End, "", 0});
    return out;
}

using Names = std::unordered_map<std::string, Symbol>;

class Scope {
public:
    Scope() = default;
    explicit Scope(Scope* outer) : outer_(outer) {}
    Symbol& declare(const std::string& name, Type t, int slot) {
        return names_[name] = Symbol{name, t, slot};
    }
    Symbol* find(const std::string& name) {
        for (Scope* sc = this; sc; sc = sc->outer_) {
            auto it = sc->names_.find(name);
            if (it != sc->names_.end()) return &it->second;
        }
        return nullptr;
    }
private:
    Names names_;
    Scope* outer_ = nullptr;
};

class Compiler {
public:
    explicit Compiler(const std::vector<Token>& t) : toks_(t) {}

    std::vector<Insn> run() {
        Scope globals;
        while (is("uniform")) {
            at_++;
            const Type t = type();
            globals.declare(ident(), t, slots_++);
            expect(";");
        }
        while (toks_[at_].kind != Tok::End) statement(globals);
        return std::move(code_);
    }
    int folded = 0, reused = 0;

private:
    const std::vector<Token>& toks_;
    size_t at_ = 0;
    int slots_ = 0;
    std::vector<Insn> code_;
    std::unordered_map<uint64_t, uint16_t> values_;

    bool is(const char* s) const { return toks_[at_].text == s; }
    void expect(const char* s) {
        if (!is(s)) throw std::runtime_error("expected " + std::string(s) + " near " + toks_[at_].text);
        at_++;
    }
    std::string ident() { return toks_[at_++].text; }
    Type type() { return toks_[at_++].text == "int" ? Type::Int : Type::Float; }

    void statement(Scope& sc) {
        if (is("{")) { block(sc); return; }
        if (is("if")) {
            at_++;
            expect("(");
            const uint16_t c = emit(*expr(sc));
            expect(")");
            const size_t jump = code_.size();
            code_.push_back({'?', c, 0, 0, 0});
            block(sc);
            code_[jump].b = uint16_t(code_.size());
            values_.clear();
            return;
        }
        if (is("float") || is("int")) {
            const Type t = type();
            const std::string name = ident();
            expect("=");
            NodeP e = expr(sc);
            assign(sc.declare(name, t, slots_++).slot, *e);
        } else {
            Symbol& s = lookup(sc, ident());
            expect("=");
            NodeP e = expr(sc);
            assign(s.slot, *e);
        }
        expect(";");
    }
    void block(Scope& outer) {
        Scope sc(&outer);
        expect("{");
        while (!is("}")) statement(sc);
        at_++;
    }
    Symbol& lookup(Scope& sc, const std::string& name) {
        Symbol* s = sc.find(name);
        if (!s) throw std::runtime_error("undeclared " + name);
        s->uses++;
        return *s;
    }
    static NodeP leaf(NodeKind k, Type t, double v, int slot) {
        return NodeP(new Node{k, t, 0, v, slot, nullptr, nullptr});
    }
    NodeP expr(Scope& sc) { return chain(sc, "+-", &Compiler::term); }
    NodeP term(Scope& sc) { return chain(sc, "*/", &Compiler::factor); }
    NodeP chain(Scope& sc, const std::string& ops, NodeP (Compiler::*sub)(Scope&)) {
        NodeP l = (this->*sub)(sc);
        while (toks_[at_].kind == Tok::Op && ops.find(toks_[at_].text[0]) != std::string::npos) {
            const char op = toks_[at_++].text[0];
            NodeP r = (this->*sub)(sc);
            if (l->kind == NodeKind::Num && r->kind == NodeKind::Num && (op != '/' || r->num != 0)) {
                const double a = l->num, b = r->num;
                l->num = op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b;
                folded++;
                continue;
            }
            const Type t = l->type == Type::Int && r->type == Type::Int ? Type::Int : Type::Float;
            l = NodeP(new Node{NodeKind::Bin, t, op, 0, 0, std::move(l), std::move(r)});
        }
        return l;
    }
    NodeP factor(Scope& sc) {
        const Token& t = toks_[at_++];
        if (t.kind == Tok::Num) return leaf(NodeKind::Num, t.text.find('.') == std::string::npos ? Type::Int : Type::Float, t.num, 0);
        if (t.kind == Tok::Op) {
            NodeP e = expr(sc);
            expect(")");
            return e;
        }
        if (is("(")) {
            at_++;
            NodeP e = expr(sc);
            expect(")");
            return NodeP(new Node{NodeKind::Call, Type::Float, t.text[0], 0, 0, std::move(e), nullptr});
        }
        Symbol& s = lookup(sc, t.text);
        return leaf(NodeKind::Var, s.type, 0, s.slot);
    }
    uint16_t emit(const Node& n) {
        if (n.kind == NodeKind::Var) return uint16_t(n.slot);
        Insn in{uint8_t(n.kind == NodeKind::Num ? '#' : n.op), 0, 0, 0, n.num};
        if (n.a) in.a = emit(*n.a);
        if (n.b) in.b = emit(*n.b);
        uint64_t key = (uint64_t(in.op) << 40) ^ (uint64_t(in.a) << 20) ^ in.b;
        if (n.kind == NodeKind::Num) key ^= uint64_t(n.num * 1000) * 0x9E3779B97F4A7C15ULL;
        auto [it, fresh] = values_.try_emplace(key, uint16_t(slots_));
        if (!fresh) { reused++; return it->second; }
        in.dst = uint16_t(slots_++);
        code_.push_back(in);
        return in.dst;
    }
    void assign(int slot, const Node& e) {
        const uint16_t v = emit(e);
        code_.push_back({'=', uint16_t(slot), v, 0, 0});
        values_.clear();
    }
};

static std::string make_shader(uint32_t seed, int lights) {
    uint32_t s = seed * 2654435761u + 1;
    auto rnd = [&](uint32_t n) { s = s * 1664525u + 1013904223u; return (s >> 10) % n; };
    std::string o;
    for (int i = 0; i < 240; i++) o += "uniform " + std::string(i % 5 ? "float" : "int") + " material_param_" + std::to_string(i) + ";\n";
    auto u = [&] { return "material_param_" + std::to_string(rnd(240)); };
    o += "float diffuse = 0.0;\nfloat specular = 0.0;\n";
    for (int i = 0; i < lights; i++) {
        const std::string d = "atten_" + std::to_string(i), m = u();
        o += "if (" + u() + " - " + u() + ") {\n float " + d + " = 1.0 / (0.5 + 2 * " + u() + " * " + u() + ");\n";
        o += " float ndotl = max(" + u() + " * " + d + " + 3.0 * 0.25);\n";
        o += " { float h = sqrt(ndotl * ndotl + " + u() + ");\n specular = specular + pow(h * " + m + ") * " + d + " + pow(h * " + m + ") * 0.2; }\n";
        o += " diffuse = diffuse + ndotl * " + d + " * (" + u() + " + 0.1 * 4);\n}\n";
    }
    return o + "float colour = diffuse * 0.8 + specular;\n";
}

int main() {
    uint64_t hash = 1469598103934665603ULL, insns = 0, folded = 0, reused = 0;
    for (uint32_t n = 0; n < 1700; n++) {
        const std::string text = make_shader(n, 40 + int(n % 24));
        const std::vector<Token> toks = lex(text);
        Compiler c(toks);
        for (const Insn& i : c.run()) {
            hash = (hash ^ i.op ^ (uint64_t(i.dst) << 8) ^ (uint64_t(i.a) << 24) ^ (uint64_t(i.b) << 40)) * 1099511628211ULL;
            insns++;
        }
        folded += uint64_t(c.folded);
        reused += uint64_t(c.reused);
    }
    printf("insns %llu folded %llu reused %llu hash %016llx\n", (unsigned long long)insns, (unsigned long long)folded,
           (unsigned long long)reused, (unsigned long long)hash);
}
