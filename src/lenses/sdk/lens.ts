/** The one import of a lens. The compiler names its module after this file. */

/** Address of the next item of the source; the Host puts it where `alloc` says. */
export declare function next(): usize
