// SPDX-License-Identifier: Apache-2.0
/// An NVML with what is needed and clocks, under the older name of the clock-event reasons.
#include <cstring>

extern "C" {

int fake_nvml_open_count = 0;

int nvmlInit_v2() {
  ++fake_nvml_open_count;
  return 0;
}
int nvmlShutdown() {
  --fake_nvml_open_count;
  return 0;
}
const char* nvmlErrorString(int result) {
  return result == 3 ? "Not Supported" : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char* text, unsigned int length) {
  std::strncpy(text, "580.65.06", length);
  return 0;
}
int nvmlSystemGetNVMLVersion(char* text, unsigned int length) {
  std::strncpy(text, "13.580.65.06", length);
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char*, void**) {
  return 6;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void**) {
  return 6;
}
int nvmlDeviceGetClockInfo(void*, int, unsigned int* megahertz) {
  *megahertz = 1980;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* mask) {
  *mask = 4;
  return 0;
}
}
