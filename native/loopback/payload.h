// The data that is moved: known before, so that it can be checked afterwards. Element i of rank r's input is
// (i + salt) mod 1024 + r: small whole numbers, whose sums are exact, and which tell where they belong and from whom
// they came.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_PAYLOAD_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_PAYLOAD_H_

#include <cstdint>
#include <optional>

#include "loopback/task.h"

namespace loopback {

/** The input into the task's buffer, and what no result may be wherever a result is due. */
void FillInput(const Task& task);

/** The first element of the output that is not what it must be. */
std::optional<Mismatch> CheckOutput(const Task& task);

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_PAYLOAD_H_
