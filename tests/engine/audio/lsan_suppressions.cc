// libsndfile 1.2.0 does not free what it allocated for an ogg/vorbis file that it then refuses.
// LeakSanitizer reads this when a test that feeds it such files is linked with this unit.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)

extern "C" const char* __lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "leak:vorbis_info_init\n";
}
