#include "tools/bench/grpc_peer.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <mutex>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "protocol/codec/tick_convert.h"
#include "tools/bench/tick_contestants.h"
#include "tools/bench/tick_service.grpc.pb.h"

namespace superfluid::bench {
namespace {

namespace v8 = linkw::v8;

class Service : public Ticks::Service {
 public:
  explicit Service(TickServer& ticks) : ticks_(ticks) {}

  grpc::Status Run(grpc::ServerContext* /*context*/, const v8::TickSubmit* request,
                   v8::TickResult* answer) override {
    Serve(*request, *answer);
    return grpc::Status::OK;
  }

  grpc::Status RunMany(grpc::ServerContext* /*context*/,
                       grpc::ServerReaderWriter<v8::TickResult, v8::TickSubmit>* stream) override {
    v8::TickSubmit request;
    while (stream->Read(&request)) {
      v8::TickResult answer;
      Serve(request, answer);
      if (!stream->Write(answer)) break;
    }
    return grpc::Status::OK;
  }

 private:
  void Serve(const v8::TickSubmit& request, v8::TickResult& answer) {
    // The conversion takes its source apart, and gRPC gives a constant one.
    v8::TickSubmit& own = const_cast<v8::TickSubmit&>(request);
    const linkw::TickSubmit tick = linkw::FromProto(std::move(own));
    const std::lock_guard<std::mutex> lock(mutex_);  // gRPC brings its threads, the engine has one
    answer = linkw::ToProto(ticks_.Serve(tick.plan));
  }

  std::mutex mutex_;
  TickServer& ticks_;
};

std::string Address(const std::string& path) { return absl::StrCat("unix:", path); }

// Common to both ways of calling.
class GrpcTick : public Contestant {
 public:
  GrpcTick(std::string name, std::unique_ptr<Ticks::Stub> stub)
      : name_(std::move(name)), stub_(std::move(stub)) {}
  std::string name() const override { return name_; }

  // Makes the sequences.
  absl::Status Begin(size_t lanes) {
    linkw::TickSubmit first = FirstTick(lanes);
    request_ = linkw::ToProto(first);
    v8::TickResult answer;
    if (absl::Status status = Unary(answer); !status.ok()) return status;
    const linkw::TickResult result = linkw::FromProto(std::move(answer));
    absl::StatusOr<linkw::TickSubmit> next = NextTick(std::move(first), result);
    if (!next.ok()) return next.status();
    request_ = linkw::ToProto(*next);
    return absl::OkStatus();
  }

 protected:
  absl::Status Unary(v8::TickResult& answer) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    const grpc::Status status = stub_->Run(&context, request_, &answer);
    if (!status.ok()) return absl::InternalError(status.error_message());
    return Checked(answer);
  }
  static absl::Status Checked(const v8::TickResult& answer) {
    if (answer.status() == v8::OK) return absl::OkStatus();
    return absl::InternalError(answer.message());
  }

  const std::string name_;
  const std::unique_ptr<Ticks::Stub> stub_;
  v8::TickSubmit request_;
};

class UnaryTick : public GrpcTick {
 public:
  using GrpcTick::GrpcTick;
  absl::Status RoundTrip() override {
    v8::TickResult answer;
    return Unary(answer);
  }
};

class StreamingTick : public GrpcTick {
 public:
  using GrpcTick::GrpcTick;
  ~StreamingTick() override {
    if (stream_ == nullptr) return;
    stream_->WritesDone();
    stream_->Finish();
  }
  absl::Status RoundTrip() override {
    if (stream_ == nullptr) stream_ = stub_->RunMany(&context_);
    v8::TickResult answer;
    if (!stream_->Write(request_) || !stream_->Read(&answer)) {
      return absl::UnavailableError("the stream ended");
    }
    return Checked(answer);
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v8::TickSubmit, v8::TickResult>> stream_;
};

}  // namespace

absl::Status ServeGrpc(const std::string& path, TickServer& ticks) {
  Service service(ticks);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(Address(path), grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return absl::InternalError("gRPC cannot listen");
  server->Wait();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Contestant>> ConnectGrpc(std::string name, const std::string& path,
                                                        GrpcCall call, size_t lanes) {
  const std::shared_ptr<grpc::Channel> channel =
      grpc::CreateChannel(Address(path), grpc::InsecureChannelCredentials());
  if (!channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(30))) {
    return absl::UnavailableError("gRPC cannot connect");
  }
  std::unique_ptr<Ticks::Stub> stub = Ticks::NewStub(channel);
  std::unique_ptr<GrpcTick> tick;
  if (call == GrpcCall::kUnary) {
    tick = std::make_unique<UnaryTick>(std::move(name), std::move(stub));
  } else {
    tick = std::make_unique<StreamingTick>(std::move(name), std::move(stub));
  }
  if (absl::Status status = tick->Begin(lanes); !status.ok()) return status;
  return tick;
}

}  // namespace superfluid::bench
