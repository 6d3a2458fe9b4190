#include "loopback/json.h"

#include <cstdio>

namespace loopback {

std::string JsonQuote(const std::string& text) {
  std::string quoted = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c < 0x20) {
      char escape[8];
      snprintf(escape, sizeof escape, "\\u%04x", c);
      quoted += escape;
    } else {
      quoted += static_cast<char>(c);
    }
  }
  return quoted + "\"";
}

std::string Hex(uint64_t value) {
  char text[19];
  snprintf(text, sizeof text, "0x%016lx", static_cast<unsigned long>(value));
  return text;
}

std::string JsonArray(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return "[" + text + "]";
}

}  // namespace loopback
