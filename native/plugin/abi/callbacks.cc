#include "plugin/abi/callbacks.h"

#include "nccl/profiler_v7.h"
#include "plugin/events/states.h"

namespace nccl_trace::abi {
namespace {

void WriteLog(void* logger, bool warn, const char* text) {
  if (logger == nullptr) return;
  const auto write = reinterpret_cast<nccl_abi::Logger>(logger);
  write(warn ? nccl_abi::kLogWarn : nccl_abi::kLogInfo, nccl_abi::kLogSubsysProfile | nccl_abi::kLogSubsysInit,
        "nccl-trace", 0, "%s", text);
}

// The union member that NCCL fills in for a state. In all other states the union has old bytes.

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

/** Records the size, one of an operation's two arguments. */
uint64_t ValueOf(uint32_t state, const nccl_abi::StateArgsBeforeV4* args) {
  if (state <= nccl_abi::kOpRecvDone) return args->proxyOp.transSize;
  if (state == nccl_abi::kCtrlAppendEnd) return static_cast<uint32_t>(args->proxyCtrl.appendedProxyOps);
  return rank_file::kNoValue;
}

[[gnu::noinline]] void StopInGeneral(uint64_t handle) {
  Producer* producer = recorder.ProducerOfThread(false);
  if (producer != nullptr) RecordStop<Path::kSlow>(*producer, handle);
}

[[gnu::noinline]] void RecordStateInGeneral(uint64_t handle, uint32_t state, uint64_t value) {
  Producer* producer = recorder.ProducerOfThread(false);
  if (producer != nullptr) RecordState<Path::kSlow>(*producer, handle, state, value);
}

}  // namespace

nccl_abi::Result Open(const CommunicatorInfo& info, int known_events, void** context, int* mask,
                      nccl_abi::Logger logger) {
  const Log log = {reinterpret_cast<void*>(logger), WriteLog};
  *context = recorder.OpenCommunicator(info, known_events, mask, log);
  return nccl_abi::kSuccess;
}

nccl_abi::Result StopEvent(void* handle) {
  const uint64_t number = reinterpret_cast<uint64_t>(handle);
  Producer* producer = current_producer.fast();
  if (Unlikely(producer == nullptr) || !RecordStop<Path::kFast>(*producer, number)) StopInGeneral(number);
  return nccl_abi::kSuccess;
}

template <typename StateArgs>
nccl_abi::Result RecordEventState(void* handle, nccl_abi::EventState state, StateArgs* args) {
  const uint64_t number = reinterpret_cast<uint64_t>(handle);
  const uint32_t entered = static_cast<uint32_t>(state);
  const uint64_t value = args != nullptr ? ValueOf(entered, args) : rank_file::kNoValue;
  Producer* producer = current_producer.fast();
  if (Unlikely(producer == nullptr) || !RecordState<Path::kFast>(*producer, number, entered, value)) {
    RecordStateInGeneral(number, entered, value);
  }
  return nccl_abi::kSuccess;
}
template nccl_abi::Result RecordEventState(void*, nccl_abi::EventState, nccl_abi::StateArgsBeforeV4*);
template nccl_abi::Result RecordEventState(void*, nccl_abi::EventState, nccl_abi::StateArgs*);

nccl_abi::Result Finalize(void* context) {
  recorder.CloseCommunicator(context);
  return nccl_abi::kSuccess;
}

}  // namespace nccl_trace::abi
