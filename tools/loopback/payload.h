// The moved data. It is known in advance, so results can be checked. Element i of rank r's input is
// (i + salt) mod 1024 + r: small whole numbers with exact sums, which show their place and their rank.

#pragma once

#include <cstdint>
#include <optional>

#include "loopback/task.h"

namespace loopback {

/** Writes the input into the task's buffer, and a value that no result has into the places of results. */
void FillInput(const Task& task);

/** The first wrong element of the output. */
std::optional<Mismatch> CheckOutput(const Task& task);

}  // namespace loopback
