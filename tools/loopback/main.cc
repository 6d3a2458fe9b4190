// nccl-trace-loopback: a stand-in for NCCL without a GPU. README.md says what it is for, --help how to use it.

#include <cstdio>

#include "loopback/fatal.h"
#include "loopback/launcher.h"
#include "loopback/parse.h"
#include "loopback/rank.h"

namespace {

int Run(const loopback::Options& options, int argc, char** argv) {
  if (options.help) return printf("%s", loopback::kHelp) < 0;
  if (options.rank != loopback::kNever) return loopback::RunRank(options);
  return loopback::RunLauncher(options, argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(loopback::ParseOptions(argc, argv), argc, argv);
  } catch (const loopback::UsageError& error) {
    loopback::Say("%s", error.what());
    return loopback::kExitUsage;
  }
}
