#include "engine/pocketsphinx/decoder.h"

#include <pocketsphinx.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/pocketsphinx/library_log.h"

namespace superfluid {
namespace {

// The acoustic scale at which lattice probabilities are computed: the library's own default.
constexpr float kAcousticScale = 1.0F / 20;

// More words ending in one frame than this are only ever rubbish, but make lattices so large that a
// lattice step of noisy speech takes 300 ms instead of 7; accuracy is the same.
constexpr int kMaxWordsPerFrame = 10;

// The length of the utterance that resets: more than any window that the library looks back over.
constexpr int kResetFrames = 16;

// Fillers ("<sil>", "[NOISE]", "++BREATH++", "<s>") are not words that anybody said.
bool IsFiller(std::string_view word) {
  return word.empty() || word[0] == '<' || word[0] == '[' || word.starts_with("++");
}

// "read(2)", the second pronunciation, is "read".
std::string BaseWord(std::string_view word) {
  const size_t variant = word.ends_with(')') ? word.rfind('(') : std::string_view::npos;
  return std::string(word.substr(0, variant == 0 ? std::string_view::npos : variant));
}

cmd_ln_t* MakeConfig(const ModelFiles& model, const PocketsphinxOptions& options) {
  const std::string most_hmms = absl::StrCat(options.max_hmms);
  const std::string most_words = absl::StrCat(kMaxWordsPerFrame);
  const std::string pause_frames = absl::StrCat(options.pause_ms / kFrameMs);
  return cmd_ln_init(nullptr, ps_args(), TRUE,              //
                     "-hmm", model.acoustic_model.c_str(),  //
                     "-lm", model.language_model.c_str(),   //
                     "-dict", model.dictionary.c_str(),     //
                     "-fwdflat", "no", "-bestpath", "no",   // see decoder.h
                     "-maxhmmpf", most_hmms.c_str(), "-maxwpf", most_words.c_str(),  //
                     "-vad_postspeech", pause_frames.c_str(), nullptr);
}

// The language model that the search uses. (ps_get_search would name the search, but leaks.)
ngram_model_t* LanguageModel(ps_decoder_t* decoder) {
  ngram_model_t* model = nullptr;
  for (ps_search_iter_t* search = ps_search_iter(decoder); search != nullptr;
       search = ps_search_iter_next(search)) {
    if (model == nullptr) model = ps_get_lm(decoder, ps_search_iter_val(search));
  }
  return model;
}

absl::Status LibraryError(const char* what) {
  return absl::InternalError(absl::StrCat("the pocketsphinx library failed to ", what));
}

}  // namespace

void Decoder::DecoderFree::operator()(ps_decoder_s* decoder) const { ps_free(decoder); }

absl::StatusOr<std::unique_ptr<Decoder>> Decoder::Load(const ModelFiles& model,
                                                       const PocketsphinxOptions& options) {
  SilencePocketsphinx();
  CapturePocketsphinxErrors errors;
  cmd_ln_t* config = MakeConfig(model, options);
  ps_decoder_t* library_decoder = config == nullptr ? nullptr : ps_init(config);
  cmd_ln_free_r(config);
  if (library_decoder == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("the model ", model.name, " cannot be loaded: ", errors.first()));
  }
  std::unique_ptr<Decoder> decoder(new Decoder(library_decoder));
  if (absl::StatusOr<std::unique_ptr<FrontEnd>> probe = decoder->MakeFrontEnd(); !probe.ok()) {
    return probe.status();
  }
  if (absl::Status status = decoder->Reset(); !status.ok()) return status;
  return decoder;
}

Decoder::Decoder(ps_decoder_s* decoder) : decoder_(decoder) {
  // Frames come normalised already (see CepstralMean). The model's own parameter file would
  // override a configuration that says so.
  ps_get_feat(decoder)->cmn = CMN_NONE;
}

Decoder::~Decoder() = default;

absl::StatusOr<std::unique_ptr<FrontEnd>> Decoder::MakeFrontEnd() const {
  return FrontEnd::Create(ps_get_config(decoder_.get()));
}

std::optional<Cepstrum> Decoder::cepstral_mean_prior() const {
  cmd_ln_t* config = ps_get_config(decoder_.get());
  if (cmn_type_from_str(cmd_ln_str_r(config, "-cmn")) == CMN_NONE) return std::nullopt;
  Cepstrum prior(static_cast<size_t>(feat_cepsize(ps_get_feat(decoder_.get()))));
  size_t i = 0;
  for (const absl::string_view field : absl::StrSplit(cmd_ln_str_r(config, "-cmninit"), ',')) {
    if (i < prior.size() && absl::SimpleAtof(field, &prior[i])) ++i;
  }
  return prior;
}

// The library has no call that forgets everything. What one utterance leaves for the next is
// - the mean of the features, the noise estimate and the buffers of the front end: not used here;
// - the best few densities of each codebook, from which the next frame's search starts: after it,
//   they are exact but for ties, so they depend on all frames before;
// - which triphone the second and third state of each root of the lexical tree had, which decides
//   what is scored in the first frames, hence how scores are rounded.
// A short utterance of constant frames, with everything scored, overwrites both, always with the
// same. (Tried over a hundred pairs of recordings: without it two of three results differ in the
// scores, with it none.) 10 ms.
absl::Status Decoder::Reset() {
  if (open_) {
    if (absl::Status status = EndUtterance(); !status.ok()) return status;
  }
  const auto dimension = static_cast<size_t>(feat_cepsize(ps_get_feat(decoder_.get())));
  Cepstrum frame(dimension);
  for (size_t i = 0; i < dimension; ++i) {
    // Not a frame of zeros: speech-like enough for densities to differ, so that there are no ties.
    frame[i] = 0.5F * std::sin(0.37F * static_cast<float>((i + 1) * (i + 2)));
  }
  ScoreEverything(true);
  absl::Status status = StartUtterance();
  for (int i = 0; i < kResetFrames && status.ok(); ++i) status = Search(frame);
  if (status.ok()) status = EndUtterance();
  ScoreEverything(false);
  return status;
}

// Whether all senones are scored rather than those in use. The library reads its option for this
// only here, when it leaves the mode in which scores come from a file: an empty one, then.
void Decoder::ScoreEverything(bool on) {
  static constexpr char kNoScores[] = "s3\nversion 0.1\nendhdr\n\x44\x33\x22\x11";
  cmd_ln_set_boolean_r(ps_get_config(decoder_.get()), "-compallsen", on);
  char bytes[sizeof(kNoScores)];
  std::copy(std::begin(kNoScores), std::end(kNoScores), bytes);
  FILE* file = fmemopen(bytes, sizeof(bytes) - 1, "rb");
  if (file == nullptr) return;
  ps_decode_senscr(decoder_.get(), file);
  std::fclose(file);
}

absl::Status Decoder::StartUtterance() {
  lattice_ = nullptr;
  best_link_ = nullptr;
  if (ps_start_utt(decoder_.get()) < 0) return LibraryError("start an utterance");
  open_ = true;
  return absl::OkStatus();
}

absl::Status Decoder::Search(Cepstrum normalised) {
  float* row = normalised.data();
  const int searched = ps_process_cep(decoder_.get(), &row, 1, FALSE, FALSE);
  return searched < 0 ? LibraryError("search a frame") : absl::OkStatus();
}

absl::Status Decoder::EndUtterance() {
  open_ = false;
  return ps_end_utt(decoder_.get()) < 0 ? LibraryError("end an utterance") : absl::OkStatus();
}

int Decoder::TrailingSilence() const {
  int silence = 0;
  for (ps_seg_t* segment = ps_seg_iter(decoder_.get()); segment != nullptr;
       segment = ps_seg_next(segment)) {
    int first = 0;
    int last = 0;
    ps_seg_frames(segment, &first, &last);
    silence = IsFiller(ps_seg_word(segment)) ? silence + last - first + 1 : 0;
  }
  return silence;
}

std::vector<DecodedWord> Decoder::SearchedWords() const {
  std::vector<DecodedWord> words;
  for (ps_seg_t* segment = ps_seg_iter(decoder_.get()); segment != nullptr;
       segment = ps_seg_next(segment)) {
    DecodedWord word;
    ps_seg_frames(segment, &word.first_frame, &word.last_frame);
    word.text = BaseWord(ps_seg_word(segment));
    if (!IsFiller(word.text)) words.push_back(std::move(word));
  }
  return words;
}

int Decoder::BestScore() const {
  int32 score = 0;
  return ps_get_hyp(decoder_.get(), &score) == nullptr ? 0 : score;
}

bool Decoder::BuildLattice() {
  lattice_ = ps_get_lattice(decoder_.get());
  return lattice_ != nullptr;
}

bool Decoder::FindBestPath() {
  best_link_ = ps_lattice_bestpath(lattice_, LanguageModel(decoder_.get()), 1.0F, kAcousticScale);
  return best_link_ != nullptr;
}

void Decoder::ComputeProbabilities() {
  ps_lattice_posterior(lattice_, LanguageModel(decoder_.get()), kAcousticScale);
}

// The share of all paths that go through `node`, from the links that leave it.
double Decoder::NodeProbability(ps_latnode_s* node) const {
  double probability = 0;
  for (ps_latlink_iter_t* exit = ps_latnode_exits(node); exit != nullptr;
       exit = ps_latlink_iter_next(exit)) {
    const int32 log_share = ps_latlink_prob(lattice_, ps_latlink_iter_link(exit), nullptr);
    probability += logmath_exp(ps_lattice_get_logmath(lattice_), log_share);
  }
  return probability;
}

// A link of the path stands for its source node's word, from where that node begins to where the
// link ends; the last node has no link that leaves it.
std::vector<DecodedWord> Decoder::LatticeWords() const {
  std::vector<DecodedWord> words;
  const auto add = [&](ps_latnode_t* node, int last_frame, double probability) {
    DecodedWord word;
    word.text = BaseWord(ps_latnode_word(lattice_, node));
    word.first_frame = ps_latnode_times(node, nullptr, nullptr);
    word.last_frame = last_frame;
    word.probability = static_cast<float>(std::clamp(probability, 0.0, 1.0));
    if (!IsFiller(word.text)) words.push_back(std::move(word));
  };
  for (ps_latlink_t* link = best_link_; link != nullptr; link = ps_latlink_pred(link)) {
    ps_latnode_t* source = nullptr;
    ps_latnode_t* target = ps_latlink_nodes(link, &source);
    if (link == best_link_) {
      int16 last_end = 0;
      ps_latnode_times(target, nullptr, &last_end);
      add(target, last_end, 1.0);  // every path ends there
    }
    add(source, ps_latlink_times(link, nullptr), NodeProbability(source));
  }
  std::reverse(words.begin(), words.end());
  return words;
}

}  // namespace superfluid
