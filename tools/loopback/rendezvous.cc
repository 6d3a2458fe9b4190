#include "loopback/rendezvous.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "loopback/fatal.h"

namespace loopback {
namespace {

/** The first bytes on a connection. The token excludes strangers who connect to our port. */
struct Introduction {
  uint64_t token;
  uint64_t commId;
  int32_t senderRank;
  int32_t channel;
  int32_t shared;
  int32_t isPxnLink;  // no connection: operations come this way
};

sockaddr_in LocalAddress(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

int TcpSocket() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) Fatal(kExitFailed, "no socket: %s", strerror(errno));
  return fd;
}

int Listen(uint16_t* port) {
  const int fd = TcpSocket();
  sockaddr_in address = LocalAddress(0);
  socklen_t size = sizeof address;
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(fd, SOMAXCONN) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    Fatal(kExitFailed, "cannot listen on this machine: %s", strerror(errno));
  }
  *port = ntohs(address.sin_port);
  return fd;
}

void SendAtOnce(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int Connect(uint16_t port, const Introduction& introduction) {
  const int fd = TcpSocket();
  const sockaddr_in address = LocalAddress(port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      send(fd, &introduction, sizeof introduction, MSG_NOSIGNAL) != sizeof introduction) {
    Fatal(kExitFailed, "cannot connect to port %d: %s", port, strerror(errno));
  }
  SendAtOnce(fd);
  return fd;
}

/** Accepts a connection with our token. Closes all others. */
int Accept(int listener, uint64_t token, Introduction* introduction) {
  while (true) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) Fatal(kExitFailed, "accept: %s", strerror(errno));
    const timeval limit{5, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    const ssize_t got = recv(fd, introduction, sizeof *introduction, MSG_WAITALL);
    if (got == sizeof *introduction && introduction->token == token) {
      SendAtOnce(fd);
      return fd;
    }
    close(fd);
  }
}

Comm* CommWithId(const std::vector<std::unique_ptr<Comm>>& comms, uint64_t id) {
  for (const auto& comm : comms) {
    if (comm->spec.id == id) return comm.get();
  }
  Fatal(kExitFailed, "a peer introduced an unknown communicator");
}

/** Includes the operations of --fault other, because their peers need the other ends. */
Script AllOps(const Options& options) {
  Script script = options.script;
  for (const Fault& fault : options.faults) {
    script.insert(script.end(), fault.script.begin(), fault.script.end());
  }
  return script;
}

/** Connects a sending side, of this rank or of the one whose sends it executes. */
void ConnectSender(Connection& connection, const Comm& comm, uint64_t token, const std::vector<uint16_t>& ports,
                   Network* network) {
  const Introduction introduction{token, comm.spec.id, comm.rank, connection.channel, connection.shared, 0};
  const int fd = Connect(ports[comm.spec.worldRanks[connection.peer]], introduction);
  connection.out = network->Sender(fd, comm.spec.worldRanks[connection.peer], connection.channel);
}

/** Returns how many connections others will make to us. */
int ConnectSenders(Comm& comm, const Options& options, const std::vector<uint16_t>& ports, Network* network, Pxn* pxn) {
  int expected = 0;
  for (const ConnectionKey& key : comm.NeededConnections(AllOps(options), options.proto, options.algo)) {
    if (pxn->isOrigin() && pxn->HandsOver(comm, key)) {
      pxn->AddSharedConnection(comm, key)->executor = pxn;
      continue;
    }
    Connection* connection = comm.AddConnection(key);
    key.isSend ? ConnectSender(*connection, comm, options.runId, ports, network) : void(expected += 1);
  }
  return expected;
}

/** Connects the sends that another rank leaves to this one. */
void ConnectForeign(const Options& options, const std::vector<uint16_t>& ports, Network* network, Pxn* pxn) {
  for (const auto& comm : pxn->foreignComms()) {
    for (const ConnectionKey& key : comm->NeededConnections(AllOps(options), options.proto, options.algo)) {
      if (!pxn->HandsOver(*comm, key)) continue;
      ConnectSender(*pxn->AddSharedConnection(*comm, key), *comm, options.runId, ports, network);
    }
  }
}

/** Removes the time limit, because the link may be quiet for long. */
void UsePxnLink(Pxn* pxn, int fd) {
  const timeval noLimit{0, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &noLimit, sizeof noLimit);
  pxn->UseLink(fd);
}

}  // namespace

void ConnectAll(const std::vector<std::unique_ptr<Comm>>& comms, const Options& options, const Control& control,
                Network* network, Pxn* pxn) {
  Message hello{};
  hello.type = MessageType::kHello;
  const int listener = Listen(&hello.port);
  control.Send(hello);
  const std::vector<uint16_t> ports = control.ReceivePeers(options.ranks);
  if (ports.empty()) Fatal(kExitFailed, "the launcher is gone");

  // Connecting does not wait for accept, so all ranks may connect first.
  int expected = 0;
  for (const auto& comm : comms) expected += ConnectSenders(*comm, options, ports, network, pxn);
  ConnectForeign(options, ports, network, pxn);
  if (pxn->isOrigin()) pxn->UseLink(Connect(ports[options.pxn.executor], {options.runId, 0, 0, 0, 0, 1}));
  expected += pxn->isExecutor();
  for (int i = 0; i < expected; i++) {
    Introduction introduction;
    const int fd = Accept(listener, options.runId, &introduction);
    if (introduction.isPxnLink) {
      UsePxnLink(pxn, fd);
      continue;
    }
    Comm* comm = CommWithId(comms, introduction.commId);
    const bool shared = introduction.shared != 0;
    Connection* connection = comm->Find({introduction.senderRank, introduction.channel, false, shared});
    connection->in = network->Receiver(fd);
  }
  close(listener);
}

}  // namespace loopback
