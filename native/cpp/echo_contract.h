/* The words that an echo service is told after its cell, and what it says. Source: docs/child-contract.md. */
#pragma once

#include "echo.h"

/* Say ready with *address* and what this program is, answer `reset`, and say the result at end of file on stdin.
   counted_bytes: bytes sent back since the start; divided by message_bytes they are the requests. */
void echo_contract_speak(const struct echo_library *library, const char *address, long message_bytes,
                         unsigned long long (*counted_bytes)(void));
