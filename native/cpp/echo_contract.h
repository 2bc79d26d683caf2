/* The words that an echo service is told after its cell, and what it says. Source: docs/child-contract.md. */
#pragma once

/* Say ready with *address*, answer `reset`, and say the result at end of file on stdin.
   counted_bytes: bytes sent back since the start; divided by message_bytes they are the requests. */
void echo_contract_speak(const char *address, long message_bytes, unsigned long long (*counted_bytes)(void));
