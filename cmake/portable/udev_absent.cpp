// SPDX-License-Identifier: Apache-2.0
/// A udev that has nothing to say, for the portable program: hwloc's static library asks udev for
/// the serial numbers of disks, which nothing here reads, and there is no static libudev. hwloc
/// does without a context when `udev_new` returns none, and asks nothing further.
extern "C" {

struct udev;
struct udev_device;

udev* udev_new() {
  return nullptr;
}

udev* udev_unref(udev* /*context*/) {
  return nullptr;
}

udev_device* udev_device_new_from_subsystem_sysname(udev* /*context*/,
                                                    const char* /*subsystem*/,
                                                    const char* /*name*/) {
  return nullptr;
}

const char* udev_device_get_property_value(udev_device* /*device*/, const char* /*key*/) {
  return nullptr;
}

udev_device* udev_device_unref(udev_device* /*device*/) {
  return nullptr;
}
}
