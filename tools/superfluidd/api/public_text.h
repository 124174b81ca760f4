#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_API_PUBLIC_TEXT_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_API_PUBLIC_TEXT_H_

#include <string>
#include <string_view>

namespace superfluid::daemon {

// Why a request failed, in the words of the API.
struct PublicText {
  std::string message;
  std::string param;  // the field of the form that it is about; empty: none in particular
};

// Returns what a worker said about a request as its client should read it: without the names of
// calls and buffers, which are none of the client's. Pure.
PublicText InWordsOfTheApi(std::string_view text);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_API_PUBLIC_TEXT_H_
