// SPDX-License-Identifier: Apache-2.0
// All of the dialect, for its page and for the code that parses attributes.
include "dialects/talc/TalcOps.td"
include "dialects/talc/RecurrenceOps.td"
include "dialects/talc/LookupSource.td"
include "dialects/talc/gradients/GradientOps.td"
