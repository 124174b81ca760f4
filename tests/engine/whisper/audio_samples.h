#ifndef SUPERFLUID_TESTS_ENGINE_WHISPER_AUDIO_SAMPLES_H_
#define SUPERFLUID_TESTS_ENGINE_WHISPER_AUDIO_SAMPLES_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace superfluid {

// Audio at 16 kHz that changes all the time, like speech, and is other for another seed.
inline std::vector<float> Babble(double seconds, uint32_t seed = 1) {
  std::minstd_rand random(seed);
  const auto uniform = [&random] { return static_cast<double>(random() % 10'000) / 10'000; };
  std::vector<float> samples(static_cast<size_t>(seconds * 16'000));
  double pitch = 0.05;
  double formant = 0.3;
  double loudness = 0.2;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (i % 1600 == 0) {  // a tenth of a second
      pitch = 0.03 + 0.05 * uniform();
      formant = 0.1 + 0.8 * uniform();
      loudness = 0.02 + 0.3 * uniform();
    }
    const auto t = static_cast<double>(i);
    const double voice = std::sin(pitch * t) * (1 + std::sin(formant * t)) + 0.2 * uniform();
    samples[i] = static_cast<float>(loudness * voice / 2.5);
  }
  return samples;
}

inline std::vector<float> Quiet(double seconds) {
  return std::vector<float>(static_cast<size_t>(seconds * 16'000), 0.0F);
}

inline std::vector<float> Join(std::vector<float> a, const std::vector<float>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace superfluid

#endif  // SUPERFLUID_TESTS_ENGINE_WHISPER_AUDIO_SAMPLES_H_
