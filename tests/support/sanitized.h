/* Whether the tests run under the address sanitizer, where each case takes ten times as long. */
#ifndef TESTS_SUPPORT_SANITIZED_H
#define TESTS_SUPPORT_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define S0_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define S0_SANITIZED 1
#endif
#endif
#ifndef S0_SANITIZED
#define S0_SANITIZED 0
#endif

#endif
