#ifndef SUPERFLUID_TOOLS_SERVICE_DESCRIPTORS_H_
#define SUPERFLUID_TOOLS_SERVICE_DESCRIPTORS_H_

namespace superfluid {

// Opens /dev/null for each standard descriptor that is closed, so that no file or socket of the
// process gets its number. From main, first.
void HoldStandardDescriptors();

// Raises the number of descriptors that the process may have to the hard limit: shells and systemd
// give 1024, which the buffers of one driver would use up. Has no effect where it is refused.
void RaiseDescriptorLimit();

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_SERVICE_DESCRIPTORS_H_
