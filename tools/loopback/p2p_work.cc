// One side of a transfer on one channel: chunk after chunk, one buffer slot each. An empty transfer is one empty step.

#include <algorithm>
#include <cstring>

#include "loopback/work.h"

namespace loopback {
namespace {

class P2pWork : public Work {
 public:
  P2pWork(const Task& task, const P2pPartition& partition, const ChannelPart& part)
      : buffer_(reinterpret_cast<char*>(task.buffer) + part.offset),
        bytes_(part.bytes),
        chunkBytes_(partition.chunkBytes) {}

  Advance TryAdvance() override {
    if (!begun_) Begin();
    begun_ = true;
    if (!Ready()) return Advance::kBlocked;
    const size_t n = std::min(chunkBytes_, bytes_ - done_);
    Move(reinterpret_cast<float*>(buffer_ + done_), n);
    done_ += n;
    if (done_ < bytes_) return Advance::kProgressed;
    End();
    return Advance::kDone;
  }

 protected:
  virtual void Begin() = 0;
  virtual bool Ready() const = 0;
  virtual void Move(float* user, size_t bytes) = 0;
  virtual void End() = 0;

 private:
  char* const buffer_;
  const size_t bytes_;
  const size_t chunkBytes_;
  size_t done_ = 0;
  bool begun_ = false;
};

class SendWork : public P2pWork {
 public:
  SendWork(const Task& task, const P2pPartition& partition, const ChannelPart& part)
      : P2pWork(task, partition, part), sender_(P2pConnection(task, part.channel), partition.proto) {}

 private:
  void Begin() override { sender_.Begin(1); }
  bool Ready() const override { return sender_.HasRoom(1); }
  void Move(float* user, size_t bytes) override { sender_.Post(user, bytes, 1); }
  void End() override { sender_.End(); }

  GpuSender sender_;
};

class RecvWork : public P2pWork {
 public:
  RecvWork(const Task& task, const P2pPartition& partition, const ChannelPart& part)
      : P2pWork(task, partition, part), receiver_(P2pConnection(task, part.channel), partition.proto) {}

 private:
  void Begin() override { receiver_.Begin(1); }
  bool Ready() const override { return receiver_.HasData(1); }
  void Move(float* user, size_t bytes) override {
    memcpy(user, receiver_.Payload(bytes, GpuScratch()), bytes);
    receiver_.Consume(1);
  }
  void End() override { receiver_.End(); }

  GpuReceiver receiver_;
};

}  // namespace

std::unique_ptr<Work> MakeP2pWork(const Task& task, const P2pPartition& partition, const ChannelPart& part) {
  if (task.func == Func::kSend) return std::make_unique<SendWork>(task, partition, part);
  return std::make_unique<RecvWork>(task, partition, part);
}

}  // namespace loopback
