// The three helpers of llama.cpp's common/common.cpp that its json-schema-to-grammar.cpp calls.
// That file itself would bring the whole of common/ (and its needs) into the plug-in. Written
// against the declarations in common/common.h.
#include <cstddef>
#include <string>
#include <vector>

// NOLINTNEXTLINE(readability-identifier-naming): the library's name
std::string string_join(const std::vector<std::string>& values, const std::string& separator) {
  std::string joined;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) joined += separator;
    joined += values[i];
  }
  return joined;
}

// The pieces between the delimiters: always one more than there are delimiters. The delimiter is
// not empty.
// NOLINTNEXTLINE(readability-identifier-naming)
std::vector<std::string> string_split(const std::string& str, const std::string& delimiter) {
  std::vector<std::string> pieces;
  size_t begin = 0;
  for (size_t end = 0; (end = str.find(delimiter, begin)) != std::string::npos;) {
    pieces.push_back(str.substr(begin, end - begin));
    begin = end + delimiter.size();
  }
  pieces.push_back(str.substr(begin));
  return pieces;
}

// NOLINTNEXTLINE(readability-identifier-naming)
std::string string_repeat(const std::string& str, size_t n) {
  std::string repeated;
  repeated.reserve(str.size() * n);
  for (size_t i = 0; i < n; ++i) repeated += str;
  return repeated;
}
