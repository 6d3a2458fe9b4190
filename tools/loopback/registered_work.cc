// Works on registered buffers: the network reads and writes the user's memory, so a step needs no slot and may be as long
// as the network's largest message. The kernel only says when data may be sent, and notices when it has arrived:
//
//   AllGather in a ring     send 0, recv 0, send 1, recv 1 … for each loop: what has arrived is sent on
//   Send, Recv              one side of it

#include <algorithm>

#include "loopback/work.h"

namespace loopback {
namespace {

class RegisteredWork : public Work {
 public:
  /** If there are both, they alternate, a send first. */
  RegisteredWork(const RegisteredSteps* sends, Connection* out, const RegisteredSteps* recvs, Connection* in)
      : sends_(sends), recvs_(recvs), sender_(out, Proto::kSimple), receiver_(in, Proto::kSimple) {}

  Advance TryAdvance() override {
    if (!begun_) Begin();
    if (!AllMoved()) return TryMove() ? Advance::kProgressed : Advance::kBlocked;
    // The buffer belongs to the user again when this ends.
    if (sends_ != nullptr && !sender_.AllTaken()) return Advance::kBlocked;
    if (sends_ != nullptr) sender_.End();
    if (recvs_ != nullptr) receiver_.End();
    return Advance::kDone;
  }

 private:
  void Begin() {
    begun_ = true;
    if (sends_ != nullptr) sender_.Begin(1);
    if (recvs_ != nullptr) receiver_.BeginRegistered();
  }

  bool AllMoved() const { return sent_ == Count(sends_) && received_ == Count(recvs_); }
  static size_t Count(const RegisteredSteps* steps) { return steps == nullptr ? 0 : steps->size(); }

  bool TryMove() {
    const bool sendNext = recvs_ == nullptr || (sends_ != nullptr && sent_ == received_);
    if (sendNext ? !sender_.HasRoom(1) : !receiver_.HasData(1)) return false;
    if (sendNext) {
      sender_.PostRegistered((*sends_)[sent_++].bytes);
    } else {
      receiver_.Consume(1);
      received_ += 1;
    }
    return true;
  }

  const RegisteredSteps* const sends_;  // null: none
  const RegisteredSteps* const recvs_;
  GpuSender sender_;
  GpuReceiver receiver_;
  bool begun_ = false;
  size_t sent_ = 0;
  size_t received_ = 0;
};

/** The first hop sends the own block, each further one the block that came with the hop before. */
RegisteredSteps StepsOfRing(const Task& task, const ChannelPart& part, bool isSend) {
  const Comm& comm = *task.comm;
  const size_t blockBytes = task.bytes / comm.nRanks;
  RegisteredSteps steps;
  for (size_t done = 0; done < part.bytes; done += kMaxMessage) {
    for (int hop = 0; hop < comm.nRanks - 1; hop++) {
      const int back = isSend ? hop : hop + 1;
      const int block = comm.ring[(comm.nRanks - back) % comm.nRanks];
      char* const data = reinterpret_cast<char*>(task.buffer) + block * blockBytes + part.offset + done;
      steps.push_back({data, std::min(kMaxMessage, part.bytes - done)});
    }
  }
  return steps;
}

RegisteredSteps StepsOfTransfer(const Task& task, const ChannelPart& part) {
  RegisteredSteps steps;
  size_t done = 0;
  do {
    char* const data = reinterpret_cast<char*>(task.buffer) + part.offset + done;
    steps.push_back({data, std::min(kMaxMessage, part.bytes - done)});
    done += steps.back().bytes;
  } while (done < part.bytes);
  return steps;
}

}  // namespace

const RegisteredSteps* AddRegisteredSteps(Task& task, const ChannelPart& part, bool isSend) {
  task.registeredSteps.push_back(IsP2p(task.func) ? StepsOfTransfer(task, part) : StepsOfRing(task, part, isSend));
  return &task.registeredSteps.back();
}

std::unique_ptr<Work> MakeRegisteredWork(const RegisteredSteps* sends, Connection* out, const RegisteredSteps* recvs,
                                         Connection* in) {
  return std::make_unique<RegisteredWork>(sends, out, recvs, in);
}

}  // namespace loopback
