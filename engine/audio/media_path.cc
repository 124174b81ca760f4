#include "engine/audio/media_path.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/audio/printable_name.h"

namespace superfluid {
namespace {

// A descriptor that closes itself.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_;
};

// Whether /proc may be used; tests do without.
enum class Proc { kUsed, kIgnored };

std::string ProcName(int fd) { return absl::StrCat("/proc/self/fd/", fd); }

absl::Status Outside(std::string_view path) {
  return absl::PermissionDeniedError(
      absl::StrCat(PrintableName(path), " is outside of the folder that media may come from"));
}

// Of descriptors or memory.
bool IsShortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

absl::Status FromErrno(int error, std::string_view path) {
  if (IsShortage(error)) {
    return absl::ResourceExhaustedError("the worker has too many files open");
  }
  const std::string name = PrintableName(path);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(absl::StrCat("there is no file ", name));
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(absl::StrCat("the worker may not read ", name));
    case EXDEV:
      return Outside(path);
    case ELOOP:
      return absl::InvalidArgumentError(
          absl::StrCat(name, " goes through too many symbolic links, or one of those in /proc"));
    case ENAMETOOLONG:
      return absl::InvalidArgumentError(absl::StrCat("the path ", name, " is too long"));
    default:
      return absl::InternalError(absl::StrCat(name, " cannot be opened (error ", error, ")"));
  }
}

absl::Status CheckPath(std::string_view path) {
  if (path.empty()) return absl::InvalidArgumentError("the path is empty");
  if (path.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("the path ", PrintableName(path), " contains a NUL byte"));
  }
  if (path.size() >= PATH_MAX) return FromErrno(ENAMETOOLONG, path);
  return absl::OkStatus();
}

std::vector<std::string> Components(std::string_view path) {
  std::vector<std::string> components;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") components.emplace_back(part);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return components;
}

std::string Join(const std::vector<std::string>& components, size_t from) {
  std::string joined;
  for (size_t i = from; i < components.size(); ++i) {
    absl::StrAppend(&joined, joined.empty() ? "" : "/", components[i]);
  }
  return joined.empty() ? "." : joined;
}

// The root: its descriptor, and the ways in which an absolute path may name it.
class Root {
 public:
  static absl::StatusOr<Root> Open(const std::string& path) {
    Fd fd(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid()) {
      if (IsShortage(errno)) return FromErrno(errno, path);
      return absl::FailedPreconditionError("the folder that media may come from cannot be opened");
    }
    Root root(std::move(fd));
    root.names_.push_back(Components(path));
    std::array<char, PATH_MAX> resolved = {};
    if (realpath(path.c_str(), resolved.data()) != nullptr) {
      root.names_.push_back(Components(resolved.data()));
    }
    return root;
  }

  int fd() const { return fd_.get(); }
  bool unrestricted() const { return names_.back().empty(); }

  // `path` relative to the root; nullopt if it is absolute and does not begin with the root.
  std::optional<std::string> Relative(std::string_view path) const {
    const std::vector<std::string> parts = Components(path);
    if (!path.starts_with('/')) return Join(parts, 0);
    for (const std::vector<std::string>& name : names_) {
      const bool inside =
          parts.size() >= name.size() && std::equal(name.begin(), name.end(), parts.begin());
      if (inside) return Join(parts, name.size());
    }
    return std::nullopt;
  }

 private:
  explicit Root(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
  std::vector<std::vector<std::string>> names_;
};

constexpr int kReadFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

// A place in the file system, and the way to come there again.
struct Place {
  Fd fd;      // O_PATH, hence without effects
  Fd folder;  // from which `name` leads there
  std::string name;
  uint64_t resolve = 0;  // as openat2 wants it; 0: `name` is one component and no link
};

int OpenAgain(const Place& place) {
  if (place.resolve == 0) {
    return openat(place.folder.get(), place.name.c_str(), kReadFlags | O_NOFOLLOW);
  }
  open_how how = {};
  how.flags = kReadFlags;
  how.resolve = place.resolve;
  return static_cast<int>(
      syscall(SYS_openat2, place.folder.get(), place.name.c_str(), &how, sizeof(how)));
}

// Opens for reading what `info` describes, where there is no /proc that leads from one descriptor
// to another: by its name once more, and only if that is the same file still.
absl::StatusOr<int> OpenSame(const Place& place, const struct stat& info, std::string_view path) {
  Fd fd(OpenAgain(place));
  struct stat opened = {};
  if (!fd.valid() || fstat(fd.get(), &opened) != 0) return FromErrno(errno, path);
  if (opened.st_dev != info.st_dev || opened.st_ino != info.st_ino) {
    return absl::UnavailableError(
        absl::StrCat(PrintableName(path), " was replaced while it was opened"));
  }
  return fd.Release();
}

absl::StatusOr<int> OpenPlace(const Place& place, std::string_view path, Proc proc) {
  struct stat info = {};
  if (fstat(place.fd.get(), &info) != 0) return FromErrno(errno, path);
  if (S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(PrintableName(path), " is a folder"));
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(PrintableName(path), " is not a regular file (a device, pipe or socket)"));
  }
  if (proc == Proc::kIgnored) return OpenSame(place, info, path);
  const int fd = open(ProcName(place.fd.get()).c_str(), kReadFlags);
  if (fd >= 0) return fd;
  return errno == ENOENT ? OpenSame(place, info, path) : FromErrno(errno, path);
}

// A walk below the root that holds every folder on the way open.
class Walk {
 public:
  Walk(const Root& root, std::string_view path) : root_(root), path_(path) {}

  absl::StatusOr<Place> Run(const std::string& relative) {
    Queue(relative);
    Fd place(openat(root_.fd(), ".", O_PATH | O_CLOEXEC));
    while (!pending_.empty()) {
      const std::string name = std::move(pending_.front());
      pending_.pop_front();
      absl::StatusOr<Fd> next = name == ".." ? Up() : Down(std::move(place), name);
      if (!next.ok()) return next.status();
      place = *std::move(next);
      name_ = name;
    }
    // Above the root itself is nothing, and it is no file.
    Fd folder = parents_.empty() ? Fd() : std::move(parents_.back());
    return Place{.fd = std::move(place), .folder = std::move(folder), .name = name_};
  }

 private:
  static constexpr int kMaxLinks = 40;      // as in the kernel
  static constexpr size_t kMaxDepth = 128;  // each costs a descriptor while walking

  void Queue(const std::string& relative) {
    const std::vector<std::string> parts = Components(relative);
    pending_.insert(pending_.begin(), parts.begin(), parts.end());
  }

  absl::StatusOr<Fd> Up() {
    if (parents_.empty()) return Outside(path_);
    Fd parent = std::move(parents_.back());
    parents_.pop_back();
    return parent;
  }

  absl::StatusOr<Fd> Down(Fd place, const std::string& name) {
    Fd next(openat(place.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat info = {};
    if (!next.valid() || fstat(next.get(), &info) != 0) return FromErrno(errno, path_);
    if (S_ISLNK(info.st_mode)) return Follow(next, std::move(place));
    if (parents_.size() >= kMaxDepth) return FromErrno(ENAMETOOLONG, path_);
    parents_.push_back(std::move(place));
    return next;
  }

  // Replaces the link by what it says; `place` is the folder that the link is in.
  absl::StatusOr<Fd> Follow(const Fd& link, Fd place) {
    if (++links_ > kMaxLinks) return FromErrno(ELOOP, path_);
    std::string target(PATH_MAX, '\0');
    const ssize_t length = readlinkat(link.get(), "", target.data(), target.size());
    if (length <= 0) return FromErrno(EACCES, path_);
    target.resize(static_cast<size_t>(length));
    if (!target.starts_with('/')) {
      Queue(target);
      return place;
    }
    const std::optional<std::string> inside = root_.Relative(target);
    if (!inside.has_value()) return Outside(path_);
    parents_.clear();
    Queue(*inside);
    return Fd(openat(root_.fd(), ".", O_PATH | O_CLOEXEC));
  }

  const Root& root_;
  std::string_view path_;
  std::deque<std::string> pending_;  // components still to go
  std::string name_;                 // the component that was taken last
  std::vector<Fd> parents_;          // the folders above the current place, the root first
  int links_ = 0;
};

absl::StatusOr<Place> Beneath(const Root& root, const std::string& relative,
                              std::string_view path) {
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  if (!root.unrestricted()) how.resolve |= RESOLVE_BENEATH;
  long fd = -1;
  for (int attempt = 0; attempt < 4; ++attempt) {  // EAGAIN: something was renamed meanwhile
    fd = syscall(SYS_openat2, root.fd(), relative.c_str(), &how, sizeof(how));
    if (fd >= 0 || errno != EAGAIN) break;
  }
  if (fd >= 0) {
    return Place{.fd = Fd(static_cast<int>(fd)),
                 .folder = Fd(openat(root.fd(), ".", O_PATH | O_CLOEXEC)),
                 .name = relative,
                 .resolve = how.resolve};
  }
  // EXDEV: it leads out, or an absolute link leads to a place inside; the walk can tell.
  const bool walk = errno == ENOSYS || errno == EPERM || errno == EXDEV || errno == EAGAIN;
  if (walk) return Walk(root, path).Run(relative);
  return FromErrno(errno, path);
}

template <typename Find>
absl::StatusOr<int> OpenWith(const std::string& root_path, std::string_view path, Proc proc,
                             Find find) {
  if (absl::Status status = CheckPath(path); !status.ok()) return status;
  absl::StatusOr<Root> root = Root::Open(root_path);
  if (!root.ok()) return root.status();
  const std::optional<std::string> relative = root->Relative(path);
  if (!relative.has_value()) return Outside(path);
  const absl::StatusOr<Place> place = find(*root, *relative);
  if (!place.ok()) return place.status();
  return OpenPlace(*place, path, proc);
}

absl::StatusOr<int> OpenBeneath(const std::string& root, std::string_view path, Proc proc) {
  return OpenWith(root, path, proc, [path](const Root& opened, const std::string& relative) {
    return Beneath(opened, relative, path);
  });
}

absl::StatusOr<int> OpenByWalking(const std::string& root, std::string_view path, Proc proc) {
  return OpenWith(root, path, proc, [path](const Root& opened, const std::string& relative) {
    return Walk(opened, path).Run(relative);
  });
}

}  // namespace

absl::StatusOr<int> OpenUnderRoot(const std::string& root, std::string_view path) {
  return OpenBeneath(root, path, Proc::kUsed);
}

absl::StatusOr<std::string> NameOfDescriptor(int fd) {
  std::string name = ProcName(fd);
  if (access(name.c_str(), F_OK) == 0) return name;
  return absl::FailedPreconditionError(
      "the worker has no /proc, and cannot name a file to its engine without");
}

namespace media_path_internal {

absl::StatusOr<int> OpenUnderRootByWalking(const std::string& root, std::string_view path) {
  return OpenByWalking(root, path, Proc::kUsed);
}

absl::StatusOr<int> OpenUnderRootWithoutProc(const std::string& root, std::string_view path) {
  return OpenBeneath(root, path, Proc::kIgnored);
}

absl::StatusOr<int> OpenUnderRootByWalkingWithoutProc(const std::string& root,
                                                      std::string_view path) {
  return OpenByWalking(root, path, Proc::kIgnored);
}

}  // namespace media_path_internal
}  // namespace superfluid
