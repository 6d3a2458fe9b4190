#include "plugin/abi_callbacks.h"

#include "nccl/profiler_v7.h"
#include "plugin/events.h"

namespace nccl_trace::abi {
namespace {

void WriteLog(void* logger, bool warn, const char* text) {
  if (logger == nullptr) return;
  const auto write = reinterpret_cast<nccl_abi::Logger>(logger);
  write(warn ? nccl_abi::kLogWarn : nccl_abi::kLogInfo, nccl_abi::kLogSubsysProfile | nccl_abi::kLogSubsysInit,
        "nccl-trace", 0, "%s", text);
}

// What NCCL fills in, by state; in all others the union is left over from something else.

uint64_t ValueOf(uint32_t state, const nccl_abi::StateArgs* args) {
  switch (state) {
    case nccl_abi::kStepSendWait:
    case nccl_abi::kStepRecvFlushWait:
      return args->proxyStep.transSize;
    case nccl_abi::kCtrlAppendEnd:
      return static_cast<uint32_t>(args->proxyCtrl.appendedProxyOps);
    case nccl_abi::kKernelChStop:
    case nccl_abi::v7::kKernelPhaseStop:
      return args->kernelCh.pTimer;
    default:
      return rank_file::kNoValue;
  }
}

/** Of an operation's two arguments the size is recorded. */
uint64_t ValueOf(uint32_t state, const nccl_abi::StateArgsBeforeV4* args) {
  if (state <= nccl_abi::kOpRecvDone) return args->proxyOp.transSize;
  if (state == nccl_abi::kCtrlAppendEnd) return static_cast<uint32_t>(args->proxyCtrl.appendedProxyOps);
  return rank_file::kNoValue;
}

}  // namespace

nccl_abi::Result Open(const CommunicatorInfo& info, int known_events, void** context, int* mask,
                      nccl_abi::Logger logger) {
  const Log log = {reinterpret_cast<void*>(logger), WriteLog};
  *context = recorder.OpenCommunicator(info, known_events, mask, log);
  return nccl_abi::kSuccess;
}

nccl_abi::Result StopEvent(void* handle) {
  Producer* producer = current_producer;
  if (Unlikely(producer == nullptr)) producer = recorder.Attach(false);
  if (producer != nullptr) RecordStop(*producer, reinterpret_cast<uint64_t>(handle));
  return nccl_abi::kSuccess;
}

template <typename StateArgs>
nccl_abi::Result RecordEventState(void* handle, nccl_abi::EventState state, StateArgs* args) {
  Producer* producer = current_producer;
  if (Unlikely(producer == nullptr)) producer = recorder.Attach(false);
  if (producer == nullptr) return nccl_abi::kSuccess;
  const uint32_t number = static_cast<uint32_t>(state);
  const uint64_t value = args != nullptr ? ValueOf(number, args) : rank_file::kNoValue;
  RecordState(*producer, reinterpret_cast<uint64_t>(handle), number, value);
  return nccl_abi::kSuccess;
}
template nccl_abi::Result RecordEventState(void*, nccl_abi::EventState, nccl_abi::StateArgsBeforeV4*);
template nccl_abi::Result RecordEventState(void*, nccl_abi::EventState, nccl_abi::StateArgs*);

nccl_abi::Result Finalize(void* context) {
  recorder.CloseCommunicator(context);
  return nccl_abi::kSuccess;
}

}  // namespace nccl_trace::abi
