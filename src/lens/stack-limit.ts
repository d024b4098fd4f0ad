/**
 * The call stack that all lenses of a View share, in mebibytes; of runtime version 1, as lenses can see it. Beyond it a
 * lens traps, which like any trap is not tried again by itself: the same machine would end the same way.
 */
export const stackMebibytes = 4
