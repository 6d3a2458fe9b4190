#include "plugin/process/loaded_library.h"

#include <dlfcn.h>
#include <string.h>

#include "plugin/process/old_libc.h"

namespace nccl_trace {

LoadedLibrary::LoadedLibrary(const void* address) {
  struct Search {
    const void* address;
    LoadedLibrary* found;
  } search = {address, this};
  // Not dladdr: it is in another library before glibc 2.34.
  const auto look = [](dl_phdr_info* info, size_t, void* data) {
    const Search& wanted = *static_cast<Search*>(data);
    wanted.found->info_ = *info;
    return wanted.found->Has(wanted.address) ? 1 : 0;
  };
  if (dl_iterate_phdr(look, &search) == 0) info_ = {};
}

bool LoadedLibrary::Has(const void* address) const {
  for (int i = 0; i < info_.dlpi_phnum; ++i) {
    const auto& segment = info_.dlpi_phdr[i];
    // An address below the segment wraps around and is far behind it.
    const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - (info_.dlpi_addr + segment.p_vaddr);
    if (segment.p_type == PT_LOAD && offset < segment.p_memsz) return true;
  }
  return false;
}

bool LoadedLibrary::IsNamed(const char* part) const {
  if (info_.dlpi_name == nullptr) return false;
  const char* slash = strrchr(info_.dlpi_name, '/');
  return strstr(slash != nullptr ? slash : info_.dlpi_name, part) != nullptr;
}

uint32_t LoadedLibrary::NcclVersion() const {
  if (info_.dlpi_name == nullptr) return 0;
  // By its handle: without one the search begins with the program, and PyTorch loads NCCL where that search does not look.
  void* library = dlopen(info_.dlpi_name[0] != '\0' ? info_.dlpi_name : nullptr, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) {
    dlerror();  // the job shall not find our error
    return 0;
  }
  using GetVersion = int (*)(int* version);
  const auto get_version = reinterpret_cast<GetVersion>(dlsym(library, "ncclGetVersion"));
  if (get_version == nullptr) dlerror();
  int version = 0;
  // The search goes on in the libraries that this one needs, and those may have another NCCL.
  const bool is_own = get_version != nullptr && Has(reinterpret_cast<const void*>(get_version));
  const bool is_known = is_own && get_version(&version) == 0 && version > 0;
  dlclose(library);
  return is_known ? static_cast<uint32_t>(version) : 0;
}

}  // namespace nccl_trace
