// Calls the table of one version: converts an event of the core into a descriptor of that version. One file per version,
// senders/v1.cc to senders/v7.cc.
//
// Each version has two senders. The first is for releases that know the version natively, and, up to NCCL 2.26, for the
// next ones, whose adapters change nothing. The second is the adapter by which a newer release calls an old table. It
// knows less than the core and has peculiarities.

#pragma once

#include "loopback/event.h"

namespace loopback {

constexpr int kVersions = 7;

/** The part of a table that is the same in all versions. */
struct PluginFunctions {
  const char* name;
  nccl_abi::Result (*stopEvent)(void* handle);
  nccl_abi::Result (*finalize)(void* context);
};

struct Sender {
  PluginFunctions (*functions)(const void* table);
  nccl_abi::Result (*init)(const void* table, void** context, int* mask, const CommInfo& comm);
  /** False: the version has no such event, and the plugin was not called. */
  bool (*start)(const void* table, void* context, void** handle, const Event& event);
  /** Null `values`: the core passes NULL. */
  bool (*state)(const void* table, void* handle, nccl_abi::EventState state, const StateValues* values);
};

/** `abi`: the newest version that this NCCL knows. `version`: the table's, not newer. */
const Sender& SenderFor(int version, int abi);

extern const Sender kSenderV1, kAdapterV1;
extern const Sender kSenderV2, kAdapterV2;
extern const Sender kSenderV3, kAdapterV3;
extern const Sender kSenderV4, kAdapterV4;
extern const Sender kSenderV5, kAdapterV5;
extern const Sender kSenderV6, kAdapterV6;
extern const Sender kSenderV7;

}  // namespace loopback
