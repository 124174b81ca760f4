#ifndef SUPERFLUID_TESTS_PROTOCOL_RANDOM_PROTO_H_
#define SUPERFLUID_TESTS_PROTOCOL_RANDOM_PROTO_H_

#include <google/protobuf/message.h>

#include <cstdint>
#include <random>
#include <string>

namespace superfluid::linkw {

// Fills Protobuf messages with random contents that obey every rule of linkw.proto, by reflection:
// a field added to the schema is covered without a change here.
class RandomProto {
 public:
  explicit RandomProto(uint64_t seed) : random_(seed) {}

  // Every field gets a value, one member of each oneof; lists get 0 to 3 elements.
  void Fill(google::protobuf::Message& message);

  // A number in [0, below).
  uint64_t Below(uint64_t below) { return random_() % below; }

 private:
  void FillField(google::protobuf::Message& message,
                 const google::protobuf::FieldDescriptor& field);
  void FillElement(google::protobuf::Message& message,
                   const google::protobuf::FieldDescriptor& field);
  uint64_t Number(int bits);
  float Float();
  int EnumNumber(const google::protobuf::FieldDescriptor& field);
  std::string Text(const google::protobuf::FieldDescriptor& field);

  std::mt19937_64 random_;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_TESTS_PROTOCOL_RANDOM_PROTO_H_
