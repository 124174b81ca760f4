#include "engine/constrain/regular_expression.h"

#include <utility>

#include "engine/constrain/expression_parser.h"

namespace superfluid {
namespace {

using Kind = Expression::Kind;

// Which ends of a text an alternative is tied to.
struct Tied {
  bool begin = false;
  bool end = false;
};

// Adds expressions to an automaton.
class ExpressionEmitter {
 public:
  ExpressionEmitter(ByteNfa& nfa, Spelling spelling) : nfa_(nfa), spelling_(spelling) {}

  // Adds the texts in which the expression is found; at the ends that it is not tied to any
  // characters may stand.
  void AddFound(Expression expression, Tied tied, uint32_t from, uint32_t to) {
    if (expression.kind == Kind::kChoice) {
      for (Expression& part : expression.parts) AddFound(std::move(part), tied, from, to);
      return;
    }
    std::vector<Expression> parts;
    if (expression.kind == Kind::kSequence) {
      parts = std::move(expression.parts);
    } else {
      parts.push_back(std::move(expression));
    }
    StripAnchors(parts, tied);
    if (parts.size() == 1 && parts[0].kind == Kind::kChoice) {
      return AddFound(std::move(parts[0]), tied, from, to);
    }
    const uint32_t first = nfa_.AddState();
    const uint32_t last = nfa_.AddState();
    nfa_.AddEmpty(from, first);
    nfa_.AddEmpty(last, to);
    if (!tied.begin) AddCharacters(nfa_, first, {{0, kMaxCodePoint}}, first, spelling_);
    if (!tied.end) AddCharacters(nfa_, last, {{0, kMaxCodePoint}}, last, spelling_);
    AddSequence(parts, first, last);
  }

 private:
  static void StripAnchors(std::vector<Expression>& parts, Tied& tied) {
    size_t begins = 0;
    while (begins < parts.size() && parts[begins].kind == Kind::kBegin) ++begins;
    parts.erase(parts.begin(), parts.begin() + static_cast<ptrdiff_t>(begins));
    tied.begin = tied.begin || begins > 0;
    while (!parts.empty() && parts.back().kind == Kind::kEnd) {
      tied.end = true;
      parts.pop_back();
    }
  }

  void Add(const Expression& expression, uint32_t from, uint32_t to) {
    switch (expression.kind) {
      case Kind::kCharacter:
        return AddCharacters(nfa_, from, expression.set, to, spelling_);
      case Kind::kSequence:
        return AddSequence(expression.parts, from, to);
      case Kind::kChoice:
        for (const Expression& part : expression.parts) Add(part, from, to);
        return;
      case Kind::kRepeat:
        return AddRepeat(expression, from, to);
      default:
        nfa_.budget().Fail(UnsupportedKeyword("pattern", " with an anchor in the middle"));
    }
  }

  void AddSequence(const std::vector<Expression>& parts, uint32_t from, uint32_t to) {
    for (const Expression& part : parts) {
      if (nfa_.budget().failed()) return;
      const uint32_t next = nfa_.AddState();
      Add(part, from, next);
      from = next;
    }
    nfa_.AddEmpty(from, to);
  }

  void AddRepeat(const Expression& repeat, uint32_t from, uint32_t to) {
    const Expression& part = repeat.parts[0];
    const auto add_once = [&] {
      const uint32_t next = nfa_.AddState();
      Add(part, from, next);
      return next;
    };
    for (uint32_t i = 0; i < repeat.min && !nfa_.budget().failed(); ++i) from = add_once();
    if (repeat.max == Expression::kUnbounded) {
      const uint32_t loop = nfa_.AddState();
      nfa_.AddEmpty(from, loop);
      from = loop;
      nfa_.AddEmpty(add_once(), loop);
      return nfa_.AddEmpty(loop, to);
    }
    nfa_.AddEmpty(from, to);
    for (uint32_t i = repeat.min; i < repeat.max && !nfa_.budget().failed(); ++i) {
      from = add_once();
      nfa_.AddEmpty(from, to);
    }
  }

  ByteNfa& nfa_;
  const Spelling spelling_;
};

}  // namespace

std::optional<ByteDfa> PatternDfa(absl::string_view expression, CompileBudget& budget) {
  Expression parsed = ExpressionParser(expression, budget).Parse();
  if (budget.failed()) return std::nullopt;
  ByteNfa nfa(budget);
  const uint32_t start = nfa.AddState(Position::kInside);
  const uint32_t text = nfa.AddState();
  const uint32_t end = nfa.AddState();
  const uint32_t accept = nfa.AddState();
  nfa.AddEdge(start, '"', text);
  nfa.AddEdge(end, '"', accept);
  ExpressionEmitter(nfa, Spelling::kJson).AddFound(std::move(parsed), {}, text, end);
  return Determinise(nfa, start, accept);
}

std::optional<ByteDfa> WholeTextDfa(absl::string_view expression, CompileBudget& budget) {
  Expression parsed = ExpressionParser(expression, budget).Parse();
  if (budget.failed()) return std::nullopt;
  ByteNfa nfa(budget);
  const uint32_t start = nfa.AddState();
  const uint32_t accept = nfa.AddState();
  ExpressionEmitter(nfa, Spelling::kPlain)
      .AddFound(std::move(parsed), {.begin = true, .end = true}, start, accept);
  return Determinise(nfa, start, accept);
}

}  // namespace superfluid
