#include "loopback/partition.h"

#include <algorithm>

namespace loopback {
namespace {

constexpr size_t kMinTrafficPerChannel = 32 * kKiB;
constexpr size_t kAutoLlBytes = 256 * kKiB;  // NCCL asks its tuner, which often chooses LL up to here
constexpr size_t kP2pChunk = 128 * kKiB;
constexpr size_t kP2pMinPart = 64 * kKiB;
constexpr size_t kP2pMaxPart = 128 * kKiB;
constexpr size_t kP2pPartGrain = 4 * kKiB;
constexpr size_t kP2pLlBytesPerChannel = 16 * kKiB;

/** Bytes that cross the network for one byte of the request; LL counts four times, to use fewer channels. */
size_t TrafficPerByte(Func func, Proto proto, int nRanks) {
  const size_t traffic = func == Func::kAllReduce ? 2 : InBlocks(func) ? nRanks : 1;
  return proto == Proto::kLl ? traffic * 4 : traffic;
}

size_t GlobalBytes(Func func, size_t bytes, int nRanks) { return InBlocks(func) ? bytes * nRanks : bytes; }

CollPartition EmptyPartition(const CollRequest& request, int nRanks) {
  CollPartition partition;
  if (request.registered) return {Algo::kRing, Proto::kSimple, 1, 1, kMaxMessage, {}};
  const size_t global = GlobalBytes(request.func, request.bytes, nRanks);
  partition.algo = request.algo.value_or(Algo::kRing);
  partition.proto = request.proto.value_or(global <= kAutoLlBytes ? Proto::kLl : Proto::kSimple);
  const bool large = partition.proto == Proto::kSimple && partition.algo == Algo::kRing && !HasRoot(request.func);
  partition.chunkSteps = large ? 4 : 1;
  partition.sliceSteps = large ? 2 : 1;
  const size_t grain = Shape(partition.proto).grainBytes;
  partition.chunkBytes = SlotPayload(partition.proto) * partition.chunkSteps / grain * grain;
  return partition;
}

void CountSteps(ChannelPart& part, const CollPartition& partition, Func func, int nRanks) {
  const bool chunkForEachRank = partition.algo == Algo::kRing && !HasRoot(func);
  const int hops = partition.algo == Algo::kRing ? HopsPerLoop(func, nRanks) : 1;
  part.loops = DivUp(GlobalBytes(func, part.bytes, nRanks), (chunkForEachRank ? nRanks : 1) * partition.chunkBytes);
  part.rawSteps = hops * part.loops * partition.chunkSteps;
  part.nSteps = DivUp(part.rawSteps, partition.sliceSteps);
}

/**
 * Divides a kernel's collectives among its channels in cells. Each channel takes cells up to its share of the traffic, the
 * last one takes the rest. So a later, smaller collective may begin on the channel where an earlier one ended.
 */
class Dealer {
 public:
  Dealer(size_t totalTraffic, int maxChannels)
      : maxChannels_(maxChannels), share_(std::max(kMinTrafficPerChannel, totalTraffic / maxChannels)) {}

  void Deal(const CollRequest& request, CollPartition& partition, int nRanks) {
    const size_t trafficPerByte = TrafficPerByte(request.func, partition.proto, nRanks);
    const size_t cell = RoundUp(DivUp(kMinTrafficPerChannel, trafficPerByte), 16);
    for (size_t offset = 0; offset < request.bytes;) {
      const bool last = channel_ + 1 == maxChannels_;
      const size_t room = DivUp(share_ - dealt_, cell * trafficPerByte) * cell;
      const size_t take = last ? request.bytes - offset : std::min(room, request.bytes - offset);
      ChannelPart part{channel_, offset, take, 0, 0, 0};
      CountSteps(part, partition, request.func, nRanks);
      partition.parts.push_back(part);
      offset += take;
      dealt_ += DivUp(take, cell) * cell * trafficPerByte;
      if (dealt_ >= share_ && !last) Advance();
    }
  }

 private:
  void Advance() {
    channel_ += 1;
    dealt_ = 0;
  }

  const int maxChannels_;
  const size_t share_;
  int channel_ = 0;
  size_t dealt_ = 0;
};

int FloorPowerOfTwo(int n) {
  int power = 1;
  while (power * 2 <= n) power *= 2;
  return power;
}

/** Few channels for small transfers, more while the parts stay large. The transfers of all ranks should fit. */
int P2pChannels(size_t bytes, int nRanks, int maxChannels, int perPeer) {
  int least = perPeer;
  while (least * nRanks > maxChannels && least > 1) least /= 2;
  int channels = std::min<size_t>(least, std::max<size_t>(1, DivUp(bytes, kP2pMinPart)));
  while (DivUp(bytes, channels) > kP2pMaxPart && channels <= perPeer / 2) channels *= 2;
  return channels;
}

size_t P2pChunkBytes(Proto proto, size_t bytes) {
  if (proto != Proto::kSimple) return SlotPayload(proto);
  if (bytes < 128 * kKiB) return kP2pChunk / 4;
  return bytes < kMiB ? kP2pChunk / 2 : kP2pChunk;
}

}  // namespace

int HopsPerLoop(Func func, int nRanks) {
  if (HasRoot(func)) return 1;
  return func == Func::kAllReduce ? 2 * (nRanks - 1) : nRanks - 1;
}

size_t LoopChunkBytes(Func func, size_t chunkBytes, size_t remaining, int nRanks) {
  if (func != Func::kAllReduce) return std::min(chunkBytes, remaining);
  if (remaining >= nRanks * chunkBytes) return chunkBytes;
  return RoundUp(DivUp(remaining, nRanks), 16);
}

size_t SliceBytes(Proto proto, int chunkSteps, int sliceSteps, size_t chunkBytes) {
  if (proto != Proto::kSimple) return chunkBytes;
  const size_t slices = chunkSteps / sliceSteps;
  const size_t largest = SlotPayload(proto) * sliceSteps;
  const size_t grain = 16 * kElementBytes;
  return std::max(DivUp(chunkBytes, grain * slices) * grain, largest / 32);
}

std::vector<CollPartition> PartitionCollectives(const std::vector<CollRequest>& requests, int nRanks, int maxChannels) {
  std::vector<CollPartition> partitions;
  size_t traffic = 0;
  for (const CollRequest& request : requests) {
    partitions.push_back(EmptyPartition(request, nRanks));
    const size_t own = request.bytes * TrafficPerByte(request.func, partitions.back().proto, nRanks);
    traffic += std::max(kMinTrafficPerChannel, own);
  }
  Dealer dealer(traffic, maxChannels);
  for (size_t i = 0; i < requests.size(); i++) dealer.Deal(requests[i], partitions[i], nRanks);
  return partitions;
}

int RoundOf(int distance, int nRanks) {
  int power = 1;
  while (power < nRanks) power *= 2;
  int round = 0;
  for (int i = 1, at = 0; at != distance; i++) {
    round += at < nRanks;
    at = (at + i) % power;
  }
  return round;
}

P2pPartition PartitionP2p(size_t bytes, ProtoChoice choice, int nRanks, ChannelLimits limits, int round,
                          bool registered) {
  const int most = FloorPowerOfTwo(limits.all);
  const int channels = P2pChannels(bytes, nRanks, most, std::min(most, FloorPowerOfTwo(limits.ofPeer)));
  const bool small = bytes <= channels * kP2pLlBytesPerChannel;
  P2pPartition partition;
  partition.proto = small && !registered && choice != Proto::kSimple ? Proto::kLl : Proto::kSimple;
  partition.chunkBytes = P2pChunkBytes(partition.proto, bytes);
  const size_t share = RoundUp(DivUp(bytes, channels), kP2pPartGrain);
  for (int i = 0; i < channels; i++) {
    const size_t begin = std::min(i * share, bytes);
    const size_t end = std::min(begin + share, bytes);
    const int steps = std::max<size_t>(1, DivUp(end - begin, registered ? kMaxMessage : partition.chunkBytes));
    partition.parts.push_back({(round + i) % most, begin, end - begin, 1, steps, steps});
  }
  return partition;
}

}  // namespace loopback
