// SPDX-License-Identifier: Apache-2.0
//
// Debian's libfmt is compiled by g++, which mangles the name of this instantiation otherwise than
// clang does (the argument type is an alias template); programs of clang bring their own.
#include <fmt/format.h>

template void fmt::detail::vformat_to<char>(buffer<char>&, basic_string_view<char>,
                                            basic_format_args<buffer_context<char>>, locale_ref);
