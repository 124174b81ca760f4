// The library does not free what it loaded of a projector that it then refuses. LeakSanitizer reads
// this when a test that feeds it such files is linked with this unit.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)

extern "C" const char* __lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "leak:clip_init\nleak:mtmd_init_from_file\n";
}
