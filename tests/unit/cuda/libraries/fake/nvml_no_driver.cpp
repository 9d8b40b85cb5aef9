// SPDX-License-Identifier: Apache-2.0
/// An NVML whose driver is not loaded.
extern "C" {

int nvmlInit_v2() {
  return 9;
}
int nvmlShutdown() {
  return 1;
}
const char* nvmlErrorString(int) {
  return "Driver Not Loaded";
}
int nvmlSystemGetDriverVersion(char*, unsigned int) {
  return 1;
}
int nvmlSystemGetNVMLVersion(char*, unsigned int) {
  return 1;
}
int nvmlDeviceGetHandleByUUID(const char*, void**) {
  return 1;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void**) {
  return 1;
}
}
