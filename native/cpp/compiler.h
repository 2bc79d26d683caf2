/* Which compiler builds the file that includes this, for the ready line: docs/child-contract.md. */
#pragma once

#if defined(__clang__)
#define GILSCOPE_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define GILSCOPE_COMPILER "gcc " __VERSION__
#else
#define GILSCOPE_COMPILER "unknown"
#endif
