#include "loopback/sender.h"

namespace loopback {
namespace {

constexpr int kFirstLossyAdapters = 4;  // since NCCL 2.27. Earlier adapters lose nothing

struct Pair {
  const Sender* native;
  const Sender* adapter;
};
constexpr Pair kSenders[kVersions] = {
    {&kSenderV1, &kAdapterV1}, {&kSenderV2, &kAdapterV2}, {&kSenderV3, &kAdapterV3}, {&kSenderV4, &kAdapterV4},
    {&kSenderV5, &kAdapterV5}, {&kSenderV6, &kAdapterV6}, {&kSenderV7, nullptr},
};

}  // namespace

const Sender& SenderFor(int version, int abi) {
  const Pair& pair = kSenders[version - 1];
  const bool adapted = version < abi && abi >= kFirstLossyAdapters;
  return adapted ? *pair.adapter : *pair.native;
}

}  // namespace loopback
