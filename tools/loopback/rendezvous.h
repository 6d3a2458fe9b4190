// Makes the connections. Every rank listens on a port that the kernel chooses, the launcher sends all ports to all ranks,
// and the sending side connects and says what the connection is for.

#pragma once

#include <memory>
#include <vector>

#include "loopback/comm.h"
#include "loopback/control.h"
#include "loopback/network.h"
#include "loopback/options.h"
#include "loopback/pxn.h"

namespace loopback {

/** Blocks until all connections of all communicators are made. Ends the process if that fails. */
void ConnectAll(const std::vector<std::unique_ptr<Comm>>& comms, const Options& options, const Control& control,
                Network* network, Pxn* pxn);

}  // namespace loopback
