// SPDX-License-Identifier: Apache-2.0
/// The source of the library whose precompiled headers all test programs use.
#include "tests/catch.h"
