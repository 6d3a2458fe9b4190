// Writes JSON: one flat or nested object at a time, fields in the order in which they are added.

#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace loopback {

std::string JsonQuote(const std::string& text);
/** "0x" and 16 digits: 64 bits do not fit into a JSON number. */
std::string Hex(uint64_t value);
std::string JsonArray(const std::vector<std::string>& values);

class Json {
 public:
  Json& Add(const char* key, const std::string& value) { return AddRaw(key, JsonQuote(value)); }
  Json& Add(const char* key, const char* value) { return AddRaw(key, JsonQuote(value)); }
  Json& Add(const char* key, bool value) { return AddRaw(key, value ? "true" : "false"); }
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>>>
  Json& Add(const char* key, T value) {
    return AddRaw(key, std::to_string(value));
  }
  Json& AddNull(const char* key) { return AddRaw(key, "null"); }
  /** `value` is JSON already. */
  Json& AddRaw(const char* key, const std::string& value) {
    text_ += (text_.empty() ? "{" : ",") + JsonQuote(key) + ":" + value;
    return *this;
  }
  std::string Text() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  std::string text_;
};

}  // namespace loopback
