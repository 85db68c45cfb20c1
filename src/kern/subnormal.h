/* Loops of floats that must keep subnormal numbers stand between S0_SUBNORMAL_BEGIN and S0_SUBNORMAL_END.
 *
 * Compilers make vectors of such loops, on Helium too, whose vectors take subnormal numbers as 0: results would depend
 * on how the compiler is called. Between the two there are none on Helium; elsewhere they say nothing. */
#ifndef S0_KERN_SUBNORMAL_H
#define S0_KERN_SUBNORMAL_H

#if defined(__ARM_FEATURE_MVE) && defined(__clang__)
#define S0_SUBNORMAL_BEGIN _Pragma("clang attribute push(__attribute__((target(\"no-mve.fp\"))), apply_to = function)")
#define S0_SUBNORMAL_END   _Pragma("clang attribute pop")
#elif defined(__ARM_FEATURE_MVE) && defined(__GNUC__)
#define S0_SUBNORMAL_BEGIN _Pragma("GCC push_options") _Pragma("GCC optimize(\"no-tree-vectorize\")")
#define S0_SUBNORMAL_END   _Pragma("GCC pop_options")
#else
#define S0_SUBNORMAL_BEGIN
#define S0_SUBNORMAL_END
#endif

#endif
