#ifndef SUPERFLUID_TOOLS_VERSION_H_
#define SUPERFLUID_TOOLS_VERSION_H_

namespace superfluid {

// Of the tools and the worker, as --version prints it.
inline constexpr char kSuperfluidVersion[] = "0.1.0";

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_VERSION_H_
