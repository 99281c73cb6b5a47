// SPDX-License-Identifier: Apache-2.0
#include "plan/cost.hpp"
